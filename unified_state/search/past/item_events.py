"""What became of items: when each was recorded, accepted, superseded, answered, lifted, closed, dropped, reopened.

The ledger keeps every item, its links and how it ended, so its events follow from it. The log of the newest changes
says more about these: who made them, and what was proposed before it was accepted. Only the log tells of each time
that an item was reopened and closed again: the item itself keeps the last two ends.
"""

from __future__ import annotations

from unified_state.lib.record import Record
from unified_state.lib.times import to_milliseconds
from unified_state.memory.ledger.change_log import (
    ACCEPTS,
    CLOSES,
    DROPS,
    LIFTS,
    REJECTS,
    REOPENS,
    REPLACES,
    read_log,
)
from unified_state.memory.ledger.rules.short_item import main_text
from unified_state.model.constraint import USER_SAID
from unified_state.model.item import CONSTRAINT, DECISION, QUESTION, SAID_RULES, STATUSES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.ledger.change_log import LoggedChange
    from unified_state.model.item import LedgerItem

ACTIVE, PROPOSED, SUPERSEDED, RESOLVED, DISMISSED = STATUSES
# verbs of events
RECORDED, SUGGESTED, ACCEPTED, REPLACED = "recorded", "proposed", "accepted", "superseded"
ANSWERED, LIFTED, CLOSED, DROPPED, REJECTED, REOPENED = (
    "answered",
    "lifted",
    "closed",
    "dropped",
    "rejected",
    "reopened",
)
DECIDED = "decided"
_STATUS = {
    **dict.fromkeys((RECORDED, DECIDED, ACCEPTED, REOPENED), ACTIVE),
    **dict.fromkeys((ANSWERED, LIFTED, CLOSED), RESOLVED),
    **dict.fromkeys((DROPPED, REJECTED), DISMISSED),
    SUGGESTED: PROPOSED,
    REPLACED: SUPERSEDED,
}
_ENDS = {QUESTION: ANSWERED, CONSTRAINT: LIFTED}
_LOGGED = {
    ACCEPTS: ACCEPTED,
    DROPS: DROPPED,
    LIFTS: LIFTED,
    REJECTS: REJECTED,
    REOPENS: REOPENED,
    REPLACES: REPLACED,
}
_TOLD = frozenset({"resolution", "resolvedAt", "dropped"})  # how a body tells that its item is over


class Event(Record):
    """One event of an item: its time in ISO 8601, what happened, how (an answer, a reason, the ref that superseded
    it), and who did it as far as that is known: an origin, and the id of a session.
    """

    at: str
    verb: str
    item: LedgerItem
    detail: str = ""
    origin: str | None = None
    session_id: str | None = None

    @property
    def time(self) -> int:
        """The time in milliseconds."""
        return to_milliseconds(self.at) or 0

    def as_json(self) -> dict[str, Any]:
        """The event for a program."""
        return {
            "at": self.at,
            "verb": self.verb,
            "ref": self.item.alias,
            "kind": self.item.kind,
            "text": main_text(self.item),
            "detail": self.detail,
            "origin": self.origin,
            "session": self.session_id,
        }


class ItemEvents:
    """The events of the items of an archive."""

    def __init__(self, archive: Archive) -> None:
        self._log: dict[tuple[str, str], LoggedChange] = {
            (one.uuid, change.at): change for change in read_log(archive) for one in change.items
        }
        self._accepted_at = {
            one.uuid: change.at
            for change in read_log(archive)
            for one in change.items
            if change.verb == ACCEPTS and one.after.get("status") == ACTIVE
        }
        self._before = {
            (one.uuid, change.at): one.before for change in read_log(archive) for one in change.items if one.before
        }
        self._superseded = {
            older: (at, newer)
            for older, newer, at in archive.rows(
                "SELECT to_uuid, alias, at FROM item_link JOIN item ON item.uuid = from_uuid "
                "WHERE relation = 'supersedes' ORDER BY at"
            )
        }

    def of(self, item: LedgerItem) -> list[Event]:
        """Return the events of an item, the oldest first."""
        accepted = self._accepted(item)
        is_waiting = item.status == PROPOSED or (item.status == DISMISSED and not item.body.get("dropped"))
        begin = SUGGESTED if accepted or is_waiting else DECIDED if item.kind == DECISION else RECORDED
        author = self._origin_before(item, accepted) if accepted else item.origin
        events = [Event(item.created_at, begin, item, _origin_of(item), author, item.session_id)]
        if accepted:
            events.append(self._event(accepted, ACCEPTED, item, origin=USER_SAID))
        events += self._endings(item)
        events += self._logged(item, {event.at for event in events})
        return sorted(events, key=lambda event: event.time)

    def _accepted(self, item: LedgerItem) -> str | None:
        """Return when a proposal was accepted: as the log says, or as an item that a session proposed and that is the
        user's now tells.
        """
        logged = self._accepted_at.get(item.uuid)
        was_proposed = item.rule in SAID_RULES or (item.rule is None and item.session_id is not None)
        is_users = item.status == ACTIVE and item.origin == USER_SAID and "formerResolvedAt" not in item.body
        return logged or (item.changed_at if is_users and was_proposed else None)

    def _origin_before(self, item: LedgerItem, at: str) -> str | None:
        before = self._before.get((item.uuid, at))
        return (before or {}).get("origin") or (item.origin if item.rule in SAID_RULES else None)

    def _endings(self, item: LedgerItem) -> Iterator[Event]:
        body, ended = item.body, _ENDS.get(item.kind, CLOSED)
        former = body.get("formerResolvedAt")
        if former:
            verb = DROPPED if body.get("formerlyDropped") else ended
            yield self._event(str(former), verb, item, str(body.get("formerResolution") or ""))
            if item.status in (ACTIVE, PROPOSED) and item.changed_at:
                yield self._event(self._logged_at(item, REOPENS) or item.changed_at, REOPENED, item)
        if item.status == SUPERSEDED:
            at, newer = self._superseded.get(item.uuid, (item.changed_at or item.created_at, ""))
            yield self._event(at, REPLACED, item, f"by {newer}" if newer else "")
        elif item.status in (RESOLVED, DISMISSED):
            at = str(body.get("resolvedAt") or item.changed_at or item.created_at)
            if item.status == DISMISSED:
                ended = DROPPED if body.get("dropped") or self._logged_at(item, DROPS) else REJECTED
            yield self._event(at, ended, item, str(body.get("resolution") or ""))

    def _logged(self, item: LedgerItem, known: set[str]) -> Iterator[Event]:
        """Yield the logged changes of an item that are not known by their time."""
        for (uuid, at), change in self._log.items():
            if uuid != item.uuid or at in known or (uuid, at) not in self._before:
                continue
            after = next(one.after for one in change.items if one.uuid == uuid)
            verb = _ENDS.get(item.kind, CLOSED) if change.verb == CLOSES else _LOGGED.get(change.verb)
            if after.get("status") == SUPERSEDED:
                verb = REPLACED  # also by a proposal that was accepted
            if verb is not None:
                yield self._event(at, verb, item)

    def _logged_at(self, item: LedgerItem, verb: str) -> str | None:
        found = [at for (uuid, at), change in self._log.items() if uuid == item.uuid and change.verb == verb]
        return max(found, default=None)

    def _event(self, at: str, verb: str, item: LedgerItem, detail: str = "", *, origin: str | None = None) -> Event:
        change = self._log.get((item.uuid, at))
        detail = "" if detail == verb else detail  # it was dropped or closed without a reason
        if change is None:
            return Event(at, verb, item, detail, origin)
        return Event(at, verb, item, detail, change.origin, change.session_id)


def status_at(events: Sequence[Event], moment: int) -> str | None:
    """Return the status that an item had at a time, or None before it was recorded."""
    past = [event for event in events if event.time <= moment]
    return _STATUS[past[-1].verb] if past else None


def as_it_was(item: LedgerItem, status: str, events: Sequence[Event]) -> LedgerItem:
    """Return an item with the status, the author and the words that it had then."""
    if status in (ACTIVE, PROPOSED):
        item = item.replace(body={name: value for name, value in item.body.items() if name not in _TOLD})
    origin = events[0].origin if status == PROPOSED else None
    return item.replace(status=status, origin=origin or item.origin)


def _origin_of(item: LedgerItem) -> str:
    return f"at {item.commit[:8]} on {item.branch or 'a detached HEAD'}" if item.commit else ""
