"""The state at a point, the changes between two points, and the history of an item."""

from __future__ import annotations

from typing import Any

from unified_state.archive.archive import Archive
from unified_state.archive.sessions import session_number
from unified_state.errors import UsageError
from unified_state.ledger.explain_item import place_of
from unified_state.ledger.find_sources import turn_at
from unified_state.ledger.item_table import find_item, list_items, selected_items
from unified_state.lib.record import Record
from unified_state.model.item import EVIDENCE, LedgerItem
from unified_state.model.refs import ITEM, kind_of
from unified_state.project.find_repository import Repository
from unified_state.search.past.item_events import Event, ItemEvents, as_it_was
from unified_state.search.past.points import NOW, Point, find_point

_MOST_IN_CHAIN = 200


class StateAt(Record):
    """The items that held or waited at a point, as they were then, and the first thing that became of each since, by
    UUID.
    """

    point: Point
    items: tuple[LedgerItem, ...]
    since: dict[str, Event]


class Changes(Record):
    """What became of items after a point, up to another one, the oldest first."""

    first: Point
    last: Point
    events: tuple[Event, ...]

    def as_json(self) -> dict[str, Any]:
        """The changes for a program."""
        events = [event.as_json() for event in self.events]
        return {"from": self.first.as_json(), "to": self.last.as_json(), "events": events}


def state_at(archive: Archive, repository: Repository, name: str, now: int) -> StateAt:
    """Return the state at the point of that name. Raises NotFoundError."""
    point = find_point(archive, repository, name, now)
    found = items_at(archive, point.at)
    return StateAt(point, tuple(item for item, _ in found), {item.uuid: later[0] for item, later in found if later})


def items_at(archive: Archive, moment: int) -> list[tuple[LedgerItem, list[Event]]]:
    """Return the items that held or waited at a time, as they were then, each with its later events."""
    events, found = ItemEvents(archive), []
    for item in list_items(archive):
        of_item = events.of(item)
        then = as_it_was(item, of_item, moment)
        if then is not None:
            found.append((then, [event for event in of_item if event.time > moment]))
    return found


def changes_between(archive: Archive, repository: Repository, first: str, last: str | None, now: int) -> Changes:
    """Return the changes between two points in either order, by default up to now. Raises NotFoundError.

    Evidence that a rule captured is left out, because there is one for each failed command.
    """
    other = find_point(archive, repository, last or NOW, now)
    begin, end = sorted([find_point(archive, repository, first, now), other], key=lambda point: point.at)
    events = ItemEvents(archive)
    items = [item for item in list_items(archive) if item.kind != EVIDENCE or item.rule is None]
    found = [event for item in items for event in events.of(item) if begin.at < event.time <= end.at]
    return Changes(begin, end, tuple(sorted(found, key=lambda event: event.time)))


def history_of(archive: Archive, ref: str) -> list[Event]:
    """Return all events of an item, of those that it replaced, and of those that replaced it. Raises NotFoundError, and
    UsageError for a turn, a step or a compaction.
    """
    kind = kind_of(ref)
    if kind not in (None, ITEM):
        message = f"{ref} is a {kind}, and only items have a history"
        raise UsageError(message, f"`unified-state show {ref}` shows it")
    events = ItemEvents(archive)
    found = [event for item in _chain(archive, find_item(archive, ref)) for event in events.of(item)]
    return [_with_turn(archive, event) for event in sorted(found, key=lambda event: event.time)]


def _chain(archive: Archive, item: LedgerItem) -> list[LedgerItem]:
    """Return an item with all that it replaced or would replace, and all that replaced it."""
    linked = (
        "WITH RECURSIVE chain (one) AS (VALUES (?) UNION SELECT CASE one WHEN to_uuid THEN from_uuid ELSE to_uuid END "
        "FROM chain JOIN item_link ON one IN (from_uuid, to_uuid) WHERE relation IN ('supersedes', 'changes') LIMIT ?)"
    )
    return selected_items(archive, f"WHERE uuid IN ({linked} SELECT one FROM chain)", item.uuid, _MOST_IN_CHAIN)


def _with_turn(archive: Archive, event: Event) -> Event:
    """Return an event with its turn if it is known, and with the quote where the item was recorded."""
    session = session_number(archive, event.session_id) if event.session_id else None
    turn = turn_at(archive, session, event.time) if session is not None else None  # a terminal has no turns
    is_first = event.at == event.item.created_at
    if is_first:
        turn, _ = place_of(archive, event.item)
    return event.replace(turn=None if turn is None else f"T{turn}", quote=event.item.quote if is_first else None)
