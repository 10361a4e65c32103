"""Short forms of items: the entry of the state file for an item, and whether it is binding or enforced."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from unified_state.lib.json_text import dump_json
from unified_state.lib.record import disk_value
from unified_state.lib.text import cut, one_line
from unified_state.lib.times import latest_time
from unified_state.model.constraint import ASK, MODES, USER_SAID
from unified_state.model.item import (
    ATTEMPT,
    CONSTRAINT,
    DECISION,
    EVIDENCE,
    ITEM_KINDS,
    MAIN_FIELDS,
    QUESTION,
    Entry,
    LedgerItem,
    Scope,
)

EVIDENCE_CHARACTERS = 500  # the ledger has the whole content
_TEXT_CHARACTERS = 600
_KEY_DECISIONS, _DECISION_CHARACTERS = 5, 100
_VERBATIM = ("content", "outcome")  # fields with the text of an output


def sections_of(items: Sequence[LedgerItem]) -> dict[str, Any]:
    """Return the entries of the state file for items, by the field of the state."""
    return {
        kind.section: tuple(short_form(item) for item in items if item.kind == name)
        for name, kind in ITEM_KINDS.items()
    }


def key_decisions(items: Sequence[LedgerItem]) -> tuple[str, ...]:
    """Return the newest active decisions, a line each."""
    decisions = [main_text(item) for item in items if item.kind == DECISION and item.status == "active"]
    return tuple(cut(one_line(text), _DECISION_CHARACTERS) for text in decisions[-_KEY_DECISIONS:])


def oldest_first(items: Iterable[LedgerItem], now: int) -> list[LedgerItem]:
    """Return the items by the time of what was recorded, not by the order in which it was. An item of a time still to
    come is among the oldest.
    """
    latest = latest_time(now)
    return sorted(items, key=lambda item: item.created_at if item.created_at <= latest else "")


def short_form(item: LedgerItem) -> Entry:
    """Return the entry of the state file for an item. Long text is cut; `recall` shows it whole."""
    body, kind = item.body, ITEM_KINDS[item.kind]
    fields: dict[str, Any] = {
        "id": item.alias,
        "timestamp": item.created_at,
        "origin": item.origin,
        "status": None if item.status == "active" else item.status,
        kind.main: _text(body, kind.main),
        **{
            name: _text(body, name) or usual if isinstance(usual, str) else body.get(name, usual)
            for name, usual in kind.others.items()
        },
    }
    if "files" in kind.entry.names:
        fields["files"] = item.files
    if item.kind == QUESTION:
        resolution, resolved_at = _text(body, "resolution") or None, body.get("resolvedAt")
        fields |= {"resolved": item.status == "resolved", "resolution": resolution, "resolved_at": resolved_at}
    if item.kind == CONSTRAINT and (scope := scope_in(body)) is not None:
        fields |= {"scope": scope, "mode": body["mode"]}
    return kind.entry(**fields)


def entry_text(item: LedgerItem) -> str:
    """Return the JSON of an item's entry as the state file holds it, with the comma behind it."""
    return dump_json(disk_value(short_form(item))) + ","


def scope_in(body: dict[str, Any]) -> Scope | None:
    """Return the scope in the body of a constraint; None if it is not enforced."""
    scope = body.get("scope")
    return Scope.from_disk(scope) if isinstance(scope, dict) and body.get("mode") in MODES else None


def main_text(item: LedgerItem) -> str:
    """Return the main text of an item, without rationale, source or context."""
    return str(item.body.get(MAIN_FIELDS[item.kind]) or "")


def _text(body: dict[str, Any], name: str) -> str:
    return cut(str(body.get(name) or ""), EVIDENCE_CHARACTERS if name in _VERBATIM else _TEXT_CHARACTERS)


def is_binding(item: LedgerItem) -> bool:
    """Return whether an item is a blocking constraint stated by the user."""
    return item.kind == CONSTRAINT and bool(item.body.get("blocking")) and item.origin == USER_SAID


def is_captured(item: LedgerItem) -> bool:
    """Return whether an item is evidence or an attempt that no one recorded."""
    return item.rule is not None and item.kind in {EVIDENCE, ATTEMPT}


def enforced_mode(item: LedgerItem) -> str:
    """Return the mode in which a constraint is enforced: the given one, but at most `ask` unless the user stated it."""
    mode: str = item.body["mode"]
    return mode if item.origin == USER_SAID else min(mode, ASK, key=MODES.index)


def unenforced(item: LedgerItem) -> LedgerItem:
    """Return the item without scope and mode, for a client whose tool calls no hook checks."""
    if "scope" not in item.body:
        return item
    return item.replace(body={name: value for name, value in item.body.items() if name not in ("scope", "mode")})


def may_decide(origin: str) -> bool:
    """Return whether the author of this origin may decide on proposals: only the user may."""
    return origin == USER_SAID
