"""The text of a denial: the constraint, its origin and date, the match in the call, and how to lift it."""

from __future__ import annotations

from collections.abc import Sequence

from unified_state.ledger.rules.item_lines import ORIGINS, harmless
from unified_state.lib.text import cut
from unified_state.model.constraint import ASK, DENY, LIFTED_BY, WARN, Breach

_TEXT, _SOURCE, _MATCHED = 240, 100, 120  # characters
_MOST = 3
_DOES = {WARN: "is about this", ASK: "asks before this", DENY: "forbids this"}
_DAY = len("2026-01-01")


def denial(breaches: Sequence[Breach]) -> str:
    """Return the answer for the strictest breaches, one on each line."""
    lines = [_line(breach) for breach in breaches[:_MOST] if breach.mode == breaches[0].mode]
    refs = " ".join(breach.constraint.ref for breach in breaches[: len(lines)])
    lines.append(f"{LIFTED_BY} {refs}")
    return "\n".join(lines)


def _line(breach: Breach) -> str:
    constraint = breach.constraint
    who = ORIGINS.get(constraint.origin, constraint.origin)
    source = f", source: {cut(harmless(constraint.source), _SOURCE)}" if constraint.source else ""
    line = (
        f"Constraint {constraint.ref} {_DOES[breach.mode]}: {cut(harmless(constraint.text), _TEXT)} "
        f"({who}, since {constraint.at[:_DAY]}{source})."
    )
    if breach.mode != constraint.mode:
        return f"{line} This command is too long or too deeply nested to be checked against it."
    matched = f" Matched: {cut(harmless(breach.matched), _MATCHED)}." if breach.matched else ""
    weaker = (
        f" It was meant to {constraint.meant}, but only the user's own word does."
        if constraint.mode != constraint.meant
        else ""
    )
    return line + matched + weaker
