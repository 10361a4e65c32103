"""The log of the newest changes of the ledger, which `undo` takes back: who changed which items, from what to what.

An archive has one log, for all its worktrees and processes. It holds no text of an item, so `forget` has nothing to do
in it. Call its functions in the transaction of the change.
"""

from __future__ import annotations

from collections.abc import Iterable

from unified_state.archive.archive import Archive
from unified_state.lib.json_text import dump_json, parse_json
from unified_state.lib.record import Record, disk_value
from unified_state.model.constraint import USER_SAID
from unified_state.model.item import LedgerItem
from unified_state.model.session_state import Note

Pair = tuple[LedgerItem | None, LedgerItem]

# what a change is called
ADDS, REPLACES, DROPS, CLOSES, LIFTS = "addition", "replacement", "drop", "closing", "lift"
REOPENS, ACCEPTS, REJECTS = "reopening", "acceptance", "rejection"
_LOG = "changes"  # the name of the value in the archive
_MOST = 50
_FIELDS = ("status", "superseded_by", "origin", "paged_out_at")
_TOLD_BY = ("status", "superseded_by")  # an item that differs here was changed again


class ItemChange(Record):
    """The change of one item. `before` is None for an item that the change recorded. Of a to-do or a highlight `uuid`
    is the id, and that is all.
    """

    uuid: str
    after: dict[str, str | None]
    before: dict[str, str | None] | None = None

    def is_still(self, item: LedgerItem) -> bool:
        """Return whether the item is as the change left it."""
        return all(getattr(item, name) == self.after.get(name) for name in _TOLD_BY)


class LoggedChange(Record):
    """One change: its verb, its time, who made it, and its items."""

    verb: str
    at: str
    origin: str
    items: tuple[ItemChange, ...]
    session_id: str | None = None


def note_change(
    archive: Archive, verb: str, origin: str, session_id: str | None, pairs: Iterable[Pair], at: str
) -> None:
    """Add a change to the log: each item before and after it. An item may have changed more than once.

    An acceptance of what was added in the same moment, by an edit of a proposal, is one change with the addition.
    """
    log = read_log(archive)
    changed: dict[str, ItemChange] = {}
    for before, after in pairs:
        known = changed.get(after.uuid)
        first = known.before if known else None if before is None else _state(before)
        changed[after.uuid] = ItemChange(after.uuid, _state(after), first)
    if log and (log[-1].verb, log[-1].at, verb) == (ADDS, at, ACCEPTS) and (added := log[-1].items[0].uuid) in changed:
        log.pop()
        changed[added] = changed[added].replace(before=None)
    _write(archive, [*log, LoggedChange(verb, at, origin, tuple(changed.values()), session_id)])


def log_note(archive: Archive, verb: str, origin: str, session_id: str | None, note: Note, at: str) -> None:
    """Add a change of a to-do or highlight to the log."""
    _write(archive, [*read_log(archive), LoggedChange(verb, at, origin, (ItemChange(note.id, {}),), session_id)])


def _state(item: LedgerItem) -> dict[str, str | None]:
    return {name: getattr(item, name) for name in _FIELDS}


def newest_change(archive: Archive, origin: str, session_id: str | None) -> LoggedChange | None:
    """Return the newest change that an author may take back: the user anybody's, a program those of its session.

    In a session a program also records what the user said.
    """
    for change in reversed(read_log(archive)):
        is_programs = change.origin != USER_SAID or session_id is not None
        if origin == USER_SAID or (is_programs and change.session_id == session_id):
            return change
    return None


def drop_change(archive: Archive, change: LoggedChange) -> None:
    """Remove a change from the log."""
    _write(archive, [one for one in read_log(archive) if one != change])


def read_log(archive: Archive) -> list[LoggedChange]:
    """Return the changes in the log, the oldest first; none if it is damaged."""
    try:
        return [
            LoggedChange.from_disk({**one, "items": [ItemChange.from_disk(item) for item in one["items"]]})
            for one in parse_json(archive.meta(_LOG) or "[]")
        ]
    except (ValueError, KeyError, TypeError, AttributeError):
        return []


def _write(archive: Archive, log: list[LoggedChange]) -> None:
    archive.set_meta(_LOG, dump_json(disk_value(log[-_MOST:])))
