"""What waits for the user, as lines for a person and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from unified_state.ledger.inbox import Effect, Proposal
from unified_state.ledger.item_table import PROPOSED, RESOLVED, SUPERSEDED
from unified_state.ledger.rules.item_lines import harmless, item_line
from unified_state.ledger.rules.short_item import main_text, short_form
from unified_state.ledger.waiting_notes import WORK_ITEM, WaitingNote, is_from_file, status_in_file
from unified_state.lib.record import disk_value
from unified_state.lib.text import cut
from unified_state.lib.times import age_text, to_milliseconds

_LINE, _VALUE = 400, 160  # characters of an item, and of one of its fields


def inbox_value(waiting: Proposal, file: str) -> dict[str, Any]:
    """Return a proposal as JSON. `file` is the path of the state file, which it may come from."""
    item = waiting.item
    return {
        **disk_value(short_form(item)),
        "kind": item.kind,
        "rule": item.rule,
        "quote": item.quote,
        "session_id": item.session_id,
        "turn": waiting.turn,
        "file": file if is_from_file(item) else None,
        "changes": [
            {
                "verb": effect.verb,
                "ref": effect.item.alias,
                "status": effect.item.status,
                "fields": {name: {"from": old, "to": new} for name, (old, new) in effect.fields.items()},
            }
            for effect in waiting.effects
        ],
    }


def note_value(waiting: WaitingNote, file: str) -> dict[str, Any]:
    """Return a note of the state file as JSON."""
    kind = waiting.note.kind
    return {"kind": kind, "text": waiting.note.value, "timestamp": waiting.at, "file": file, "status": PROPOSED}


def note_lines(waiting: WaitingNote, now: int, file: str) -> Iterator[str]:
    """Yield the lines of a note: itself, and its source."""
    note = waiting.note
    is_work = note.kind == WORK_ITEM and isinstance(note.value, dict)
    text = ", ".join(map(str, note.value.values())) if is_work else note.text
    yield f"{note.kind}: {cut(harmless(text), _LINE)}"
    yield f"    from {file} ({age_text(now, to_milliseconds(waiting.at))})"


def inbox_lines(waiting: Proposal, now: int, file: str) -> Iterator[str]:
    """Yield the lines of a proposal: itself, its source, and what it would change."""
    item = waiting.item
    yield item_line(item, _LINE)
    age = age_text(now, to_milliseconds(item.created_at))
    status = status_in_file(item)
    answer = f': "{cut(harmless(answer), _VALUE)}"' if (answer := item.body.get("resolution")) else ""
    settled = f"as {status}{answer}" if status in (RESOLVED, SUPERSEDED) else ""
    source = ", ".join(filter(None, [waiting.turn or "", item.rule or "", settled, age]))
    if status:
        quote = f"{file} "
    elif item.quote and item.quote != main_text(item):
        quote = f'"{cut(harmless(item.quote), _VALUE)}" '
    else:
        quote = ""
    is_known = quote or waiting.turn or item.rule
    yield f"    from {quote}({source})" if is_known else f"    recorded {age}"
    for effect in waiting.effects:
        yield f"    {_effect(effect)}"


def _effect(effect: Effect) -> str:
    status = "" if effect.item.status == "active" else f", which is {effect.item.status}"
    if not effect.fields:
        return f"{effect.verb} {effect.item.alias}{status}: {cut(harmless(main_text(effect.item)), _VALUE)}"
    changes = (f"{name}: {_told(old)} -> {_told(new)}" for name, (old, new) in effect.fields.items())
    return f"{effect.verb} {effect.item.alias}{status}: {'; '.join(changes)}"


def _told(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, dict):
        value = "; ".join(str(pattern) for patterns in value.values() for pattern in patterns or ())
    return f'"{cut(harmless(str(value)), _VALUE)}"'
