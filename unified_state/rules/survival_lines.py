"""How survival is told: one line for the user, a table over time, and the items of a brief that were told in full."""

from __future__ import annotations

from unified_state.records.survival import DISTORTED, KEPT, MISSING, STALE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unified_state.records.survival import Survival

_MOST_REFS = 12  # in the line for the user


def survival_line(survival: Survival, restored: Sequence[str]) -> str:
    """`summary kept 9 of 14 items; restored D3, C1, Q2; distorted C4`; empty where there was nothing to keep."""
    total = len(survival.refs(KEPT, MISSING, DISTORTED))
    if not total:
        return ""
    parts = [f"summary kept {len(survival.refs(KEPT))} of {total} items"]
    for what, refs in (
        ("restored", [ref for ref in restored if ref not in survival.refs(KEPT)]),
        ("distorted", survival.refs(DISTORTED)),
        ("superseded but told as current", survival.refs(STALE)),
    ):
        if refs:
            parts.append(f"{what} {_listed(refs)}")
    return "; ".join(parts)


def told_refs(brief: str, refs: Iterable[str]) -> tuple[str, ...]:
    """Those of the refs whose items a brief tells in full: a line begins with them."""
    first = {line.split(None, 1)[0] for line in brief.splitlines() if line.startswith("  ") and line.strip()}
    return tuple(ref for ref in refs if ref in first)


def _listed(refs: Sequence[str]) -> str:
    more = len(refs) - _MOST_REFS
    return ", ".join(refs[:_MOST_REFS]) + (f" and {more} more" if more > 0 else "")
