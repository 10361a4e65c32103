"""Undo: the newest change of the ledger is taken back.

A change is an addition, an edit, a replacement, a drop, a closing, a lift, a reopening, or a decision on proposals. The
user takes back the newest of anybody in this repository, a program the newest of its own session. A change of a
constraint passes the gate, and for a program so does the user's word, which it may have recorded. Items that hooks
captured or that a file brought are no changes.
"""

from __future__ import annotations

from typing import Any

from unified_state.archive.archive import Archive
from unified_state.archive.session_work import change_note
from unified_state.errors import UsageError
from unified_state.ledger.change_log import ADDS, CLOSES, ItemChange, LoggedChange, drop_change, newest_change
from unified_state.ledger.correct_item import ended_body, opened_body
from unified_state.ledger.gate import pass_gate
from unified_state.ledger.item_table import DISMISSED, PROPOSED, RESOLVED, selected_items, update_item
from unified_state.ledger.record_item import Author
from unified_state.lib.record import Record
from unified_state.lib.times import to_text
from unified_state.model.constraint import USER_SAID
from unified_state.model.item import CONSTRAINT, LedgerItem
from unified_state.model.refs import note_number
from unified_state.model.session_state import Note

_OVER = (RESOLVED, DISMISSED)


class UndoResult(Record):
    """What was taken back: the verb of the change, its time, and the items and notes as they are now."""

    verb: str
    at: str
    items: tuple[LedgerItem, ...]
    notes: tuple[Note, ...] = ()


def undo(archive: Archive, author: Author, now: int) -> UndoResult:
    """Take the newest change back. Raises UsageError if there is none, or if one of its items changed since.

    Such a change is removed from the log, so that the next call takes back the one before it.
    """
    confirmed: LoggedChange | None = None
    while True:
        with archive.transaction():
            change = newest_change(archive, author.origin, author.session_id)
            if change is None:
                message = "there is nothing to undo"
                hint = "it takes back what was recorded, edited, dropped, closed, lifted, accepted or rejected"
                raise UsageError(message, hint)
            number = note_number(change.items[0].uuid)
            if number is not None:
                drop_change(archive, change)
                if archive.row("SELECT 1 FROM note WHERE id = ? AND at <= ?", number, change.at) is None:
                    continue  # it was forgotten
                note = change_note(archive, number, to_text(now), done=change.verb != CLOSES)
                return UndoResult(change.verb, change.at, (), (note,))
            found = [selected_items(archive, "WHERE uuid = ?", one.uuid) for one in change.items]
            items = {item.uuid: item for same in found for item in same}
            stale = [one for one in change.items if one.uuid not in items or not one.is_still(items[one.uuid])]
            guarded = [item.alias for item in items.values() if _is_guarded(item, change, author)]
            if stale or not guarded or change == confirmed:
                drop_change(archive, change)
                done = "addition" if change.verb == ADDS else "edit"
                back = [] if stale else [_take_back(archive, items[one.uuid], one, done, now) for one in change.items]
                break
        pass_gate(author.origin, f"undoes the {change.verb} of {', '.join(guarded)}")
        confirmed = change  # it is taken back if it is still the newest
    if stale:
        names = ", ".join(items[one.uuid].alias if one.uuid in items else "a forgotten item" for one in stale)
        message = f"the last {change.verb} was not undone: {names} changed since"
        raise UsageError(message, "the next `unified-state undo` takes back the change before it")
    return UndoResult(change.verb, change.at, tuple(back))


def _is_guarded(item: LedgerItem, change: LoggedChange, author: Author) -> bool:
    """Return whether only the user undoes the change: that of a rule, and for a program that of the user's word."""
    is_users = USER_SAID in (change.origin, item.origin)
    return item.kind == CONSTRAINT or (is_users and author.origin != USER_SAID)


def _take_back(archive: Archive, item: LedgerItem, change: ItemChange, done: str, now: int) -> LedgerItem:
    """Give an item its state before the change. One that the change recorded is dropped, a proposal is rejected: if it
    is reopened, the former holds again, and the latter waits again.
    """
    at = to_text(now)
    if change.before is None:
        told: dict[str, Any] = {"resolution": f"its {done} was undone", "resolvedAt": at}
        if item.status != PROPOSED:
            told["dropped"] = True
        back = item.replace(status=DISMISSED, body={**item.body, **told}, paged_out_at=at)
    else:
        back = item.replace(**change.before)
        if (item.status in _OVER) != (back.status in _OVER):
            back = back.replace(body=ended_body(item.body) if back.status in _OVER else opened_body(item.body))
    back = back.replace(changed_at=at)
    update_item(archive, back)
    return back
