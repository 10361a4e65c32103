"""The log of the newest changes of the ledger, which `undo` takes back: who changed which items, from what to what.

An archive has one log, for all its worktrees and processes. It holds no text of an item, so `forget` has nothing to do
in it. Call its functions in the transaction of the change.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.lib.json_text import dump_json, parse_json
from unified_state.lib.record import Record
from unified_state.model.constraint import USER_SAID
from unified_state.model.item import LedgerItem

Pair = tuple[LedgerItem | None, LedgerItem]

# what a change is called
ADDS, REPLACES, DROPS, CLOSES, LIFTS = "addition", "replacement", "drop", "closing", "lift"
REOPENS, ACCEPTS, REJECTS = "reopening", "acceptance", "rejection"
_LOG = "changes"  # the name of the value in the archive
_MOST = 50
_FIELDS = ("status", "superseded_by", "origin", "paged_out_at")
_TOLD_BY = ("status", "superseded_by")  # an item that differs here was changed again


class ItemChange(Record):
    """The change of one item. `before` is None for an item that the change recorded."""

    uuid: str
    before: dict[str, str | None] | None
    after: dict[str, str | None]

    def is_still(self, item: LedgerItem) -> bool:
        """Return whether the item is as the change left it."""
        return all(getattr(item, name) == self.after.get(name) for name in _TOLD_BY)


class LoggedChange(Record):
    """One change: its verb, its time, who made it, and its items."""

    verb: str
    at: str
    origin: str
    session_id: str | None
    items: tuple[ItemChange, ...]


def note_change(
    archive: Archive, verb: str, origin: str, session_id: str | None, pairs: Iterable[Pair], at: str
) -> None:
    """Add a change to the log: each item before and after it. An item may have changed more than once.

    An acceptance of what was added in the same moment, by an edit of a proposal, is one change with the addition.
    """
    entries = _entries(archive)
    changed: dict[str, list[Any]] = {}
    for before, after in pairs:
        known = changed.get(after.uuid)
        first = known[1] if known else None if before is None else _state(before)
        changed[after.uuid] = [after.uuid, first, _state(after)]
    newest = entries[-1] if entries and verb == ACCEPTS else {}
    if (newest.get("verb"), newest.get("at")) == (ADDS, at) and (added := newest["items"][0][0]) in changed:
        entries.pop()
        changed[added][1] = None
    items = list(changed.values())
    _write(archive, [*entries, {"verb": verb, "at": at, "origin": origin, "session": session_id, "items": items}])


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
    _write(archive, [entry for entry in _entries(archive) if _read(entry) != change])


def read_log(archive: Archive) -> list[LoggedChange]:
    """Return the changes in the log, the oldest first."""
    try:
        return [_read(entry) for entry in _entries(archive)]
    except (ValueError, KeyError, TypeError):  # damaged: there is nothing to take back
        return []


def _read(entry: dict[str, Any]) -> LoggedChange:
    items = tuple(ItemChange(uuid, before and {**before}, {**after}) for uuid, before, after in entry["items"])
    return LoggedChange(entry["verb"], entry["at"], entry["origin"], entry["session"], items)


def _entries(archive: Archive) -> list[dict[str, Any]]:
    """Return the changes as they are stored, the oldest first."""
    try:
        entries = parse_json(archive.meta(_LOG) or "[]")
    except ValueError:
        return []
    is_sound = isinstance(entries, list) and all(isinstance(one, dict) and one.get("items") for one in entries)
    return entries if is_sound else []


def _write(archive: Archive, entries: list[dict[str, Any]]) -> None:
    archive.set_meta(_LOG, dump_json(entries[-_MOST:]))
