"""Corrections: an item gets other words, is dropped, closed, lifted or reopened, or becomes the user's word.

Nothing is overwritten or deleted: a new item takes the place of an edited one, and a dropped one stays in the ledger as
`dismissed`. Invariant: a program only proposes to change what the user said, a constraint, or a proposal. The user at a
terminal changes everything; a constraint passes the gate.
"""

from __future__ import annotations

from typing import Any

from unified_state.archive.archive import Archive
from unified_state.errors import NotAtGateError, UsageError
from unified_state.ledger.change_log import CLOSES, DROPS, LIFTS, REOPENS, note_change
from unified_state.ledger.decide_proposal import accept, changed_by
from unified_state.ledger.gate import pass_gate, pass_gate_for
from unified_state.ledger.item_table import (
    ACTIVE,
    DISMISSED,
    PROPOSED,
    RESOLVED,
    find_item,
    selected_items,
    update_item,
)
from unified_state.ledger.record_item import (
    LONGEST_TEXT,
    Author,
    checked,
    checked_body,
    may_change,
    of_kind,
    record_item,
)
from unified_state.ledger.rules.short_item import main_text, may_decide
from unified_state.lib.times import to_text
from unified_state.model.constraint import USER_SAID
from unified_state.model.item import (
    ATTEMPT,
    CONSTRAINT,
    DECISION,
    EVIDENCE,
    MAIN_FIELDS,
    OTHER_FIELDS,
    QUESTION,
    LedgerItem,
)
from unified_state.model.scope import enforcement_of

End = tuple[str, str, str]  # the change as the log names it, the status from then on, and its verb

_ENFORCEMENT = ("scope", "mode")
# How a body tells that its item is over, and how it tells that it was. A dropped item is no rejected proposal.
_ENDS = {"resolution": "formerResolution", "resolvedAt": "formerResolvedAt", "dropped": "formerlyDropped"}


def edit(archive: Archive, ref: str, changes: dict[str, Any], author: Author, *, now: int) -> LedgerItem:
    """Return the item that has the changed fields. It supersedes the older one, or is proposed to do so.

    Raises NotAtGateError where the user is asked about a rule and does not confirm. The proposal stays.
    """
    older = _holding(archive, ref)
    body = _changed(older, changes)
    if body == older.body:
        return older
    if not may_change(older, author):
        return propose(archive, older, body, author, now=now)
    try:
        if older.status == ACTIVE:
            return record_item(archive, older.kind, body, author, now=now, supersedes=older.uuid)
        proposal = propose(archive, older, body, author, now=now)  # it changes what the older one would
        return accept(archive, [proposal.uuid], author, now)[0]
    except NotAtGateError as error:
        proposal = propose(archive, older, body, author, now=now)
        error.hint += f" (`unified-state inbox accept {proposal.alias}` changes it too)"
        raise


def drop(archive: Archive, ref: str, author: Author, *, now: int, why: str = "") -> LedgerItem:
    """Drop an item and return it: it is neither restored nor shown in the state file, and stays in the ledger."""
    item = _holding(archive, ref)
    told: dict[str, Any] = {"dropped": True} if item.status == ACTIVE else {}
    told["resolution"] = checked("why", why, archive.masked) if why else "dropped"
    return _end_by_user(archive, item, (DROPS, DISMISSED, "drops"), author, now=now, **told)


def lift(archive: Archive, ref: str, author: Author, *, now: int) -> LedgerItem:
    """Lift a constraint and return it. It leaves the state file and stays in the ledger."""
    item, told = of_kind(_holding(archive, ref), CONSTRAINT), "lifted by the user"
    return _end_by_user(archive, item, (LIFTS, RESOLVED, "lifts"), author, now=now, resolution=told)


def close(
    archive: Archive, ref: str, resolution: str, author: Author, *, now: int, kind: str | None = None
) -> LedgerItem:
    """Close a question with its answer, or evidence or an attempt that is settled, and return it. Only a question stays
    in the state file. With a `kind` no other is closed.
    """
    with archive.transaction():
        item = find_item(archive, ref) if kind is None else of_kind(find_item(archive, ref), kind)
        if item.kind != QUESTION:
            item, resolution = _settled(archive, item, author), resolution or "closed"
        resolution = checked("resolution", resolution, archive.masked)
        return _end(archive, item, (CLOSES, RESOLVED, "closes"), author, now, resolution=resolution)


def _settled(archive: Archive, item: LedgerItem, author: Author) -> LedgerItem:
    """Return evidence or an attempt that its author may close. Raises UsageError."""
    item = _holding(archive, item.uuid)
    if item.kind not in (EVIDENCE, ATTEMPT):
        message = f"{item.alias} is a {item.kind}, which is not closed"
        raise UsageError(message, f"`unified-state drop {item.alias}` takes it out of the state")
    if item.status == PROPOSED and not may_decide(author.origin):
        message = f"only the user decides on {item.alias}, which is proposed"
        raise UsageError(message, "`unified-state inbox` lists what waits for them")
    return item


def _end(archive: Archive, item: LedgerItem, end: End, author: Author, now: int, **told: Any) -> LedgerItem:
    """Return an item with its end."""
    (change, status, _), at = end, to_text(now)
    gone = None if item.kind == QUESTION and status == RESOLVED else at
    body = {**item.body, **told, "resolvedAt": at}
    ended = item.replace(status=status, body=body, changed_at=at, paged_out_at=gone)
    update_item(archive, ended)
    note_change(archive, change, author.origin, author.session_id, [(item, ended)], at)
    return ended


def _end_by_user(archive: Archive, item: LedgerItem, end: End, author: Author, *, now: int, **told: Any) -> LedgerItem:
    """Return an item with its end. Where only the user may end it, pass the gate, or record a proposal to end it and
    raise NotAtGateError.
    """
    verb = end[2]
    try:
        if not may_change(item, author):
            pass_gate(author.origin, f"{verb} {item.alias}")
        pass_gate_for([item], author.origin, verb)
    except NotAtGateError as error:
        if item.status == ACTIVE:
            proposal = propose_end(archive, item, author, now=now)
            error.hint += f" (`unified-state inbox accept {proposal.alias}` {verb} it too)"
        raise
    with archive.transaction():
        return _end(archive, _holding(archive, item.uuid), end, author, now, **told)


def reopen(archive: Archive, ref: str, author: Author, *, now: int) -> LedgerItem:
    """Reopen an item that was closed, lifted, dropped or rejected, and return it. A rejected one waits again."""
    item = _ended(archive, ref)
    if item.kind == CONSTRAINT or (author.origin != USER_SAID and item.status != RESOLVED):
        pass_gate(author.origin, f"reopens {item.alias}")
    at = to_text(now)
    with archive.transaction():
        item = _ended(archive, item.uuid)
        status = ACTIVE if item.status == RESOLVED or item.body.get("dropped") else PROPOSED
        change = {"status": status, "changed_at": at, "paged_out_at": None}
        opened = item.replace(body=opened_body(item.body), **change)
        update_item(archive, opened)
        note_change(archive, REOPENS, author.origin, author.session_id, [(item, opened)], at)
    return opened


def opened_body(body: dict[str, Any]) -> dict[str, Any]:
    """Return the body of an item that holds again. How it ended is kept under other names."""
    return {_ENDS.get(name, name): value for name, value in body.items() if name not in _ENDS.values()}


def ended_body(body: dict[str, Any]) -> dict[str, Any]:
    """Return the body of an item that is over again, as it ended before."""
    was = {former: name for name, former in _ENDS.items()}
    return {was.get(name, name): value for name, value in body.items() if name not in _ENDS}


def propose_accept(archive: Archive, ref: str, author: Author, *, now: int) -> LedgerItem:
    """Return the proposal that makes an item the user's word: itself, or a copy that takes its place."""
    item = _holding(archive, ref)
    if item.status == PROPOSED or item.origin == USER_SAID:
        return item
    return propose(archive, item, item.body, author, now=now)


def propose(archive: Archive, older: LedgerItem, body: dict[str, Any], author: Author, *, now: int) -> LedgerItem:
    """Return the proposal of an item that supersedes another one, and what that would change, once the user accepts it.
    There is at most one.
    """
    body = checked_body(older.kind, body, archive.masked)
    for known in _proposals_for(archive, older):
        if (known.kind, known.body) == (older.kind, body):
            return known
    changed = [older.uuid, *(item.uuid for item in changed_by(archive, older))]
    return record_item(archive, older.kind, body, author, now=now, proposed_for=changed)


def _proposals_for(archive: Archive, item: LedgerItem) -> list[LedgerItem]:
    """Return the proposals to change or end an item."""
    links = "SELECT from_uuid FROM item_link WHERE to_uuid = ? AND relation = 'changes'"
    return selected_items(archive, f"WHERE status = ? AND uuid IN ({links}) ORDER BY id", PROPOSED, item.uuid)


def propose_lift(archive: Archive, ref: str, author: Author, *, now: int) -> LedgerItem:
    """Return the proposal to lift a constraint."""
    return propose_end(archive, of_kind(_holding(archive, ref), CONSTRAINT), author, now=now)


def propose_end(archive: Archive, item: LedgerItem, author: Author, *, now: int) -> LedgerItem:
    """Return the proposal to lift a constraint or to drop another item: a decision that supersedes it once accepted.
    There is at most one.
    """
    done = "lifted" if item.kind == CONSTRAINT else "dropped"
    text = archive.masked(f"{_end_of(item)}{main_text(item)}"[:LONGEST_TEXT])
    for known in _proposals_for(archive, item):
        if main_text(known) == text:
            return known
    body = {"decision": text, "rationale": f"the {item.kind} was to be {done}, and not by the user", "reversible": True}
    return record_item(archive, DECISION, body, author, now=now, proposed_for=[item.uuid])


def is_end_of(proposal: LedgerItem, item: LedgerItem) -> bool:
    """Return whether a proposal only lifts or drops an item, and puts nothing in its place."""
    return proposal.kind == DECISION and main_text(proposal).startswith(_end_of(item))


def _end_of(item: LedgerItem) -> str:
    return f"{'Lift' if item.kind == CONSTRAINT else 'Drop'} {item.alias}: "


def _holding(archive: Archive, ref: str) -> LedgerItem:
    """Return an item that holds or waits. Raises UsageError for another one."""
    return _in_status(archive, ref, (ACTIVE, PROPOSED), "`unified-state undo {}` makes it hold again")


def _ended(archive: Archive, ref: str) -> LedgerItem:
    """Return an item that is over. Raises UsageError for one that holds, waits or was superseded."""
    return _in_status(archive, ref, (RESOLVED, DISMISSED), "there is nothing to reopen")


def _in_status(archive: Archive, ref: str, statuses: tuple[str, ...], hint: str) -> LedgerItem:
    item = find_item(archive, ref)
    if item.status in statuses:
        return item
    newer = archive.value("SELECT alias FROM item WHERE uuid = ?", item.superseded_by)
    message = f"{item.alias} is {item.status}"
    raise UsageError(message, f"change {newer}, which superseded it" if newer else hint.format(item.alias))


def _changed(item: LedgerItem, changes: dict[str, Any]) -> dict[str, Any]:
    """Return the body with the changes. Raises UsageError for a field that the item does not have."""
    fields = [MAIN_FIELDS[item.kind], *OTHER_FIELDS[item.kind], *(_ENFORCEMENT if item.kind == CONSTRAINT else ())]
    wrong = [name for name in changes if name not in fields]
    if wrong or not changes:
        message = f"a {item.kind} has no {wrong[0]!r}" if wrong else f"there is nothing to change in {item.alias}"
        raise UsageError(message, f"it has {', '.join(fields)}")
    if not changes.keys() & set(_ENFORCEMENT):
        return {**item.body, **changes}
    wanted = {name: item.body.get(name) for name in _ENFORCEMENT} | changes
    if wanted["scope"] is None and "mode" not in changes:
        wanted["mode"] = None
    kept = {name: value for name, value in {**item.body, **changes}.items() if name not in _ENFORCEMENT}
    return kept | enforcement_of(wanted["scope"], wanted["mode"])
