"""Provenance: the source of an item with the turn around it, and whether that source is intact.

`check_provenance` checks that every quote has its recorded hash, and is in the archived entry it was taken from.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.archive.compactions import find_compaction
from unified_state.archive.export_steps import export_line
from unified_state.archive.sessions import session_number
from unified_state.archive.steps import find_step, readable, steps_of_turn, turn_of_step
from unified_state.ledger.check_validity import read_validities
from unified_state.ledger.find_sources import entry_steps, turn_at
from unified_state.ledger.item_table import find_item, links_of, list_items
from unified_state.ledger.rules.item_lines import validity_text
from unified_state.lib.record import Record, disk_value
from unified_state.lib.text import UNREADABLE, text_hash
from unified_state.lib.times import to_milliseconds
from unified_state.model.item import VALID, LedgerItem
from unified_state.model.step import PROMPT
from unified_state.project.find_repository import Repository

_SHOWN = (
    *("uuid", "kind", "body", "status", "origin", "created_at", "session_id", "commit", "branch", "rule"),
    *("source_uuid", "quote", "quote_hash"),
)


class Finding(Record):
    """A problem and its place: the ref of an item, or the JSON path in a state file."""

    path: str
    message: str


def explain(archive: Archive, repository: Repository, ref: str) -> dict[str, Any]:
    """Return the provenance of an item as one JSON value: origin, time, commit, quote, turn, links, faults and
    validity.
    """
    item = find_item(archive, ref)
    validity = read_validities(archive, repository, [item]).get(item.uuid, VALID)
    return {
        "ref": item.alias,
        **{name: getattr(item, name) for name in _SHOWN},
        "compaction": None if item.compaction is None else f"K{item.compaction}",
        "turn": _turn(archive, item),
        "links": [disk_value(link) for link in links_of(archive, item)],
        "validity": {"valid": validity == VALID, **validity.as_dict(), "text": validity_text(validity) or "valid"},
        "faults": [fault.message for fault in _faults(archive, item)],
    }


def check_provenance(archive: Archive) -> list[Finding]:
    """Return every problem with the evidence of an item."""
    return [fault for item in list_items(archive) for fault in _faults(archive, item)]


def _faults(archive: Archive, item: LedgerItem) -> Iterator[Finding]:
    if item.quote is None or item.quote_hash is None:
        if item.quote is not None or item.quote_hash is not None:
            yield Finding(item.alias, "either its quote or the hash of it is missing")
        return  # recorded before quotes existed
    if item.quote == UNREADABLE or text_hash(item.quote) != item.quote_hash:
        yield Finding(item.alias, f"its quote was changed: the SHA-256 is not {item.quote_hash}")
        return
    if item.compaction is not None:
        compaction = find_compaction(archive, item.compaction)
        if compaction is None or item.quote not in (compaction.summary or ""):
            yield Finding(item.alias, f"its quote is not in summary K{item.compaction}")
        return
    if item.source_uuid is None:
        return
    numbers = entry_steps(archive, item.source_uuid)
    steps = [step for number in numbers if (step := find_step(archive, number)) is not None]
    if not numbers:
        yield Finding(item.alias, f"its source entry {item.source_uuid} is not in the archive")
    elif not steps:
        yield Finding(item.alias, f"its source entry S{numbers[0]} was forgotten")
    elif not any(item.quote in readable(step) for step in steps):
        yield Finding(item.alias, f"its quote is not in its source entry S{numbers[0]}")


def _turn(archive: Archive, item: LedgerItem) -> dict[str, Any] | None:
    """Return the turn an item was recorded in: its prompt, and the step that states the item, if known."""
    number, source = place_of(archive, item)
    if number is None:
        return None
    (session_id,) = archive.row(
        "SELECT session_id FROM turn JOIN session ON session.id = session WHERE turn.id = ?", number
    )
    steps = steps_of_turn(archive, number)
    prompt = next(((at, step) for at, step in steps if step.kind == PROMPT), steps[0] if steps else None)
    said = next(((at, step) for at, step in steps if at == source), None)
    return {
        "ref": f"T{number}",
        "prompt": None if prompt is None else export_line(*prompt, session_id, None),
        "step": None if said is None or said == prompt else export_line(*said, session_id, None),
    }


def place_of(archive: Archive, item: LedgerItem) -> tuple[int | None, int | None]:
    """Return the turn of an item and its source step. Without a source entry the turn is found by the time."""
    if item.source_uuid is not None:
        for number in entry_steps(archive, item.source_uuid):
            step = find_step(archive, number)
            if step is not None and (item.quote is None or item.quote in readable(step)):
                return turn_of_step(archive, number), number
        return None, None
    session = session_number(archive, item.session_id) if item.session_id else None
    if session is None:
        return None, None
    return turn_at(archive, session, to_milliseconds(item.created_at) or 0), None
