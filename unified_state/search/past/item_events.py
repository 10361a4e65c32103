"""What became of items: when each was recorded, accepted, superseded, answered, lifted, closed, dropped, reopened.

The ledger keeps every item, its links and how it ended, so its events follow from it. The log of the newest changes
says more about these: who made them, and what was proposed before it was accepted. Only the log tells of each time
that an item was reopened and closed again: the item itself keeps the last two ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.ledger.change_log import ACCEPTS, DROPS, REJECTS, REOPENS, ItemChange, LoggedChange, read_log
from unified_state.ledger.rules.short_item import main_text
from unified_state.lib.record import Record
from unified_state.lib.times import to_milliseconds
from unified_state.model.constraint import USER_SAID
from unified_state.model.item import CONSTRAINT, DECISION, QUESTION, STATUSES, LedgerItem

Logged = Sequence[tuple[LoggedChange, ItemChange]]
Entry = tuple[str, str, str]  # time, verb, detail

ACTIVE, PROPOSED, SUPERSEDED, RESOLVED, DISMISSED = STATUSES
_ENDS = {QUESTION: "answered", CONSTRAINT: "lifted"}  # the others are closed
_HELD = {"proposed": PROPOSED, **dict.fromkeys(("recorded", "decided", "accepted", "reopened"), ACTIVE)}
_END_FIELDS = frozenset({"resolution", "resolvedAt", "dropped"})  # of a body, once its item is over


class Event(Record):
    """One event of an item: its time in ISO 8601, what happened, how (an answer, a reason, the ref that superseded
    it), and who did it as far as that is known: an origin, and the id of a session. In a history it also has its turn,
    and the item's quote when that was recorded.
    """

    at: str
    verb: str
    item: LedgerItem
    detail: str = ""
    origin: str | None = None
    session_id: str | None = None
    turn: str | None = None
    quote: str | None = None

    @property
    def time(self) -> int:
        """The time in milliseconds."""
        return to_milliseconds(self.at) or 0

    def as_json(self, *more: str) -> dict[str, Any]:
        """The event for a program, with more of its fields."""
        about = {"ref": self.item.alias, "kind": self.item.kind, "text": main_text(self.item)}
        by = {"detail": self.detail, "origin": self.origin, "session": self.session_id}
        return {"at": self.at, "verb": self.verb, **about, **by, **{name: getattr(self, name) for name in more}}


class ItemEvents:
    """The events of the items of an archive."""

    def __init__(self, archive: Archive) -> None:
        self._log: dict[str, list[tuple[LoggedChange, ItemChange]]] = {}
        for change in read_log(archive):
            for one in change.items:
                self._log.setdefault(one.uuid, []).append((change, one))
        links = "FROM item_link JOIN item ON uuid = from_uuid WHERE relation = 'supersedes' ORDER BY at"
        self._newer = {older: (at, newer) for older, at, newer in archive.rows(f"SELECT to_uuid, at, alias {links}")}

    def of(self, item: LedgerItem) -> list[Event]:
        """Return the events of an item, the oldest first."""
        logged = self._log.get(item.uuid, [])
        accepted = _accepted(item, logged)
        entries = [(accepted, "accepted", "")] if accepted else []
        entries += _endings(item, self._newer.get(item.uuid), logged)
        known = {item.created_at, *(at for at, _, _ in entries)}
        entries += [one for one in _changes(item, logged) if one[0] not in known]
        changes = {change.at: change for change, _ in logged}
        events = [_begin(item, accepted, logged)]
        for at, verb, detail in entries:
            change = changes.get(at)
            origin = change.origin if change else USER_SAID if verb == "accepted" else None
            reason = "" if detail == verb else detail  # it was dropped or closed without one
            events.append(Event(at, verb, item, reason, origin, change.session_id if change else None))
        return sorted(events, key=lambda event: event.time)


def _begin(item: LedgerItem, accepted: str | None, logged: Logged) -> Event:
    is_waiting = item.status == PROPOSED or (item.status == DISMISSED and not item.body.get("dropped"))
    verb = "proposed" if accepted or is_waiting else "decided" if item.kind == DECISION else "recorded"
    before = next((one.before for change, one in logged if change.at == accepted and one.before), {})
    origin = before.get("origin") or (None if accepted else item.origin)
    place = f"at {item.commit[:8]} on {item.branch or 'a detached HEAD'}" if item.commit else ""
    return Event(item.created_at, verb, item, place, origin, item.session_id)


def _accepted(item: LedgerItem, logged: Logged) -> str | None:
    """Return when a proposal was accepted: as the log says, or as an item that a session proposed and that is the
    user's now tells.
    """
    times = [change.at for change, one in logged if change.verb == ACCEPTS and one.after.get("status") == ACTIVE]
    was_proposed = item.rule is None and item.session_id is not None
    is_users = item.status == ACTIVE and item.origin == USER_SAID and "formerResolvedAt" not in item.body
    return times[-1] if times else item.changed_at if is_users and was_proposed else None


def _endings(item: LedgerItem, newer: tuple[str, str] | None, logged: Logged) -> Iterator[Entry]:
    """Yield the last two ends of an item, and when it was reopened between them."""
    body, ended = item.body, _ENDS.get(item.kind, "closed")
    last = {change.verb: change.at for change, _ in logged}
    if former := body.get("formerResolvedAt"):
        verb = "dropped" if body.get("formerlyDropped") else ended
        yield str(former), verb, str(body.get("formerResolution") or "")
        if item.status in (ACTIVE, PROPOSED) and item.changed_at:
            yield last.get(REOPENS) or item.changed_at, "reopened", ""
    if item.status == SUPERSEDED:
        at, alias = newer or (item.changed_at or item.created_at, "")
        yield at, "superseded", f"by {alias}" if alias else ""
    elif item.status in (RESOLVED, DISMISSED):
        if item.status == DISMISSED:
            ended = "dropped" if body.get("dropped") or DROPS in last else "rejected"
        at = str(body.get("resolvedAt") or item.changed_at or item.created_at)
        yield at, ended, str(body.get("resolution") or "")


def _changes(item: LedgerItem, logged: Logged) -> Iterator[Entry]:
    """Yield the logged changes of an item's status, also of one that an accepted proposal superseded."""
    for change, one in logged:
        status = one.after.get("status")
        if one.before and one.before.get("status") != status:
            begun = "accepted" if change.verb == ACCEPTS else "reopened"
            ended = "rejected" if change.verb == REJECTS else "dropped"
            verbs = {RESOLVED: _ENDS.get(item.kind, "closed"), DISMISSED: ended, SUPERSEDED: "superseded"}
            yield change.at, verbs.get(status or "", begun), ""


def as_it_was(item: LedgerItem, events: Sequence[Event], moment: int) -> LedgerItem | None:
    """Return an item with the status, the author and the words that it had at a time, or None if it did not hold."""
    past = [event for event in events if event.time <= moment]
    status = _HELD.get(past[-1].verb) if past else None
    if status is None:
        return None
    body = {name: value for name, value in item.body.items() if name not in _END_FIELDS}
    origin = events[0].origin if status == PROPOSED else None
    return item.replace(status=status, body=body, origin=origin or item.origin)
