"""The state at a point, the changes between two points, and the history of an item."""

from __future__ import annotations

from unified_state.errors import UsageError
from unified_state.lib.record import Record
from unified_state.memory.archive.sessions import session_number
from unified_state.memory.archive.steps import KIND_NUMBERS
from unified_state.memory.ledger.explain_item import place_of
from unified_state.memory.ledger.item_table import ACTIVE, PROPOSED, find_item, list_items, selected_items
from unified_state.memory.ledger.source_table import turn_at
from unified_state.model.item import EVIDENCE
from unified_state.model.refs import ITEM, kind_of
from unified_state.model.step import TOOL_CALL
from unified_state.search.past.item_events import ItemEvents, as_it_was, status_at
from unified_state.search.past.points import Point, commits_beside, find_point

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.repository.find_repository import Repository
    from unified_state.model.item import LedgerItem
    from unified_state.search.past.item_events import Event

_MOST_IN_CHAIN = 200
_BEFORE, _AFTER = 600_000, 2_000  # milliseconds around a change in which a tool call that names the item made it


class StateAt(Record):
    """The items that held or waited at a point, as they were then; the first thing that became of each since, by
    UUID; and the refs of those that were recorded at a commit beside the history of the point's commit.
    """

    point: Point
    items: tuple[LedgerItem, ...]
    since: dict[str, Event]
    beside: tuple[str, ...] = ()


class Changes(Record):
    """What became of items after a point, up to another one, the oldest first."""

    first: Point
    last: Point
    events: tuple[Event, ...]

    def as_json(self) -> dict[str, Any]:
        """The changes for a program."""
        return {
            "from": self.first.as_json(),
            "to": self.last.as_json(),
            "events": [event.as_json() for event in self.events],
        }


class HistoryEntry(Record):
    """An event of an item or of one that it replaced, the turn in which it happened if known, and its quote."""

    event: Event
    turn: str | None = None
    quote: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The entry for a program."""
        return {**self.event.as_json(), "turn": self.turn, "quote": self.quote}


def state_at(archive: Archive, repository: Repository, name: str, now: int) -> StateAt:
    """Return the state at the point of that name. Raises NotFoundError."""
    point = find_point(archive, repository, name, now)
    found = items_at(archive, point.at)
    beside: set[str] = set()
    if point.commit is not None:
        beside = commits_beside(repository, point.commit, [item.commit for item, _ in found if item.commit])
    return StateAt(
        point=point,
        items=tuple(item for item, _ in found),
        since={item.uuid: later[0] for item, later in found if later},
        beside=tuple(item.alias for item, _ in found if item.commit in beside),
    )


def items_at(archive: Archive, moment: int) -> list[tuple[LedgerItem, list[Event]]]:
    """Return the items that held or waited at a time, as they were then, each with its later events."""
    events, found = ItemEvents(archive), []
    for item in list_items(archive):
        of_item = events.of(item)
        status = status_at(of_item, moment)
        if status in (ACTIVE, PROPOSED):
            later = [event for event in of_item if event.time > moment]
            found.append((as_it_was(item, status, of_item), later))
    return found


def changes_between(archive: Archive, repository: Repository, first: str, last: str | None, now: int) -> Changes:
    """Return the changes between two points in either order, by default up to now. Raises NotFoundError.

    Evidence that a rule captured is left out, because there is one for each failed command.
    """
    points = [
        find_point(archive, repository, first, now),
        Point("now", now) if last is None else find_point(archive, repository, last, now),
    ]
    begin, end = sorted(points, key=lambda point: point.at)
    events = ItemEvents(archive)
    found = [
        event
        for item in list_items(archive)
        if item.kind != EVIDENCE or item.rule is None
        for event in events.of(item)
        if begin.at < event.time <= end.at
    ]
    return Changes(begin, end, tuple(sorted(found, key=lambda event: event.time)))


def history_of(archive: Archive, ref: str) -> list[HistoryEntry]:
    """Return all events of an item, of those that it replaced, and of those that replaced it. Raises NotFoundError, and
    UsageError for a turn, a step or a compaction.
    """
    kind = kind_of(ref)
    if kind not in (None, ITEM):
        message = f"{ref} is a {kind}, and only items have a history"
        raise UsageError(message, f"`unified-state show {ref}` shows it")
    events = ItemEvents(archive)
    found = [event for item in _chain(archive, find_item(archive, ref)) for event in events.of(item)]
    return [_entry(archive, event) for event in sorted(found, key=lambda event: event.time)]


def _chain(archive: Archive, item: LedgerItem) -> list[LedgerItem]:
    """Return an item with all that it replaced or would replace, and all that replaced it."""
    known, left = {item.uuid}, [item.uuid]
    while left and len(known) < _MOST_IN_CHAIN:
        linked = archive.rows(
            "SELECT from_uuid, to_uuid FROM item_link WHERE relation IN ('supersedes', 'changes') "
            "AND ? IN (from_uuid, to_uuid)",
            left.pop(),
        )
        new = {uuid for pair in linked for uuid in pair} - known
        known |= new
        left += new
    return selected_items(archive, f"WHERE uuid IN ({', '.join('?' * len(known))})", *known)


def _entry(archive: Archive, event: Event) -> HistoryEntry:
    item = event.item
    if event.at == item.created_at:
        turn, _ = place_of(archive, item)
        return HistoryEntry(event, None if turn is None else f"T{turn}", item.quote)
    session = session_number(archive, event.session_id) if event.session_id else None
    if session is None:  # at a terminal: no turn made it, though one may name the item
        return HistoryEntry(event)
    turn = _calling_turn(archive, session, item.alias, event.time) or turn_at(archive, session, event.time)
    return HistoryEntry(event, None if turn is None else f"T{turn}")


def _calling_turn(archive: Archive, session: int, alias: str, at: int) -> int | None:
    """Return the turn of a session with its last tool call before a change that names the item."""
    turn: int | None = archive.value(
        "SELECT step.turn FROM step_words JOIN step ON step.id = step_words.rowid "
        "JOIN turn ON turn.id = step.turn WHERE step_words MATCH ? AND turn.session = ? AND step.kind = ? "
        "AND step.at BETWEEN ? AND ? ORDER BY step.at DESC LIMIT 1",
        f'"{alias}"',
        session,
        KIND_NUMBERS[TOOL_CALL],
        at - _BEFORE,
        at + _AFTER,
    )
    return turn
