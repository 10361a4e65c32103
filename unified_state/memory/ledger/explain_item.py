"""Provenance: where an item comes from, with the turn around it; and whether that still holds.

`explain` shows, `check_provenance` checks: every quote has the hash it was recorded with, and stands in the archived
entry it was taken from.
"""

from __future__ import annotations

from unified_state.lib.record import Record, disk_value
from unified_state.lib.text import UNREADABLE, text_hash
from unified_state.lib.times import to_milliseconds
from unified_state.memory.archive.compactions import find_compaction
from unified_state.memory.archive.export_steps import export_line
from unified_state.memory.archive.sessions import session_number
from unified_state.memory.archive.steps import find_step, readable, steps_of_turn, turn_of_step
from unified_state.memory.ledger.check_validity import read_validities
from unified_state.memory.ledger.item_table import find_item, list_items
from unified_state.memory.ledger.rules.item_lines import validity_text
from unified_state.memory.ledger.source_table import entry_steps, links_of, turn_at
from unified_state.model.item import VALID
from unified_state.model.step import PROMPT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.repository.find_repository import Repository
    from unified_state.model.item import LedgerItem


class Fault(Record):
    """What is wrong with the evidence of one item."""

    ref: str
    message: str


def explain(archive: Archive, repository: Repository, ref: str) -> dict[str, Any]:
    """Where an item comes from, as one JSON value: origin, time, commit, quote, the turn around it, links, faults, and
    how it stands now.
    """
    item = find_item(archive, ref)
    validity = read_validities(archive, repository, [item]).get(item.uuid, VALID)
    return {
        "ref": item.alias,
        "uuid": item.uuid,
        "kind": item.kind,
        "body": item.body,
        "status": item.status,
        "origin": item.origin,
        "created_at": item.created_at,
        "session_id": item.session_id,
        "commit": item.commit,
        "branch": item.branch,
        "rule": item.rule,
        "compaction": None if item.compaction is None else f"K{item.compaction}",
        "source_uuid": item.source_uuid,
        "quote": item.quote,
        "quote_hash": item.quote_hash,
        "turn": _turn(archive, item),
        "links": [disk_value(link) for link in links_of(archive, item)],
        "validity": {"valid": validity == VALID, **validity.as_dict(), "text": validity_text(validity) or "valid"},
        "faults": [fault.message for fault in _faults(archive, item)],
    }


def check_provenance(archive: Archive) -> list[Fault]:
    """What is wrong with the evidence of any item."""
    return [fault for item in list_items(archive) for fault in _faults(archive, item)]


def _faults(archive: Archive, item: LedgerItem) -> Iterator[Fault]:
    if item.quote is None or item.quote_hash is None:
        if item.quote is not None or item.quote_hash is not None:
            yield Fault(item.alias, "of its quote and the hash one is missing")
        return  # recorded before there were quotes
    if item.quote == UNREADABLE or text_hash(item.quote) != item.quote_hash:
        yield Fault(item.alias, f"its quote is not the one that was recorded: its SHA-256 is not {item.quote_hash}")
        return
    if item.compaction is not None:
        compaction = find_compaction(archive, item.compaction)
        if compaction is None or item.quote not in (compaction.summary or ""):
            yield Fault(item.alias, f"its quote does not stand in the summary it was read from, K{item.compaction}")
        return
    if item.source_uuid is None:
        return
    numbers = entry_steps(archive, item.source_uuid)
    steps = [step for number in numbers if (step := find_step(archive, number)) is not None]
    if not numbers:
        yield Fault(item.alias, f"the entry it came from, {item.source_uuid}, is not in the archive")
    elif not steps:
        yield Fault(item.alias, f"the entry it came from, S{numbers[0]}, was forgotten")
    elif not any(item.quote in readable(step) for step in steps):
        yield Fault(item.alias, f"its quote does not stand in the entry it came from, S{numbers[0]}")


def _turn(archive: Archive, item: LedgerItem) -> dict[str, Any] | None:
    """The turn an item was recorded in: its prompt, and the step that says it, where that is known."""
    number, source = _place(archive, item)
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


def _place(archive: Archive, item: LedgerItem) -> tuple[int | None, int | None]:
    """The turn of an item and the step it came from. Of one without an entry the turn is told by the time."""
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
