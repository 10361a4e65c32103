"""Decisions on proposals: the user accepts or rejects them, several at once in one transaction.

Only the user decides. A rule among them passes the gate. A rejected proposal is not captured again.
"""

from __future__ import annotations

from collections.abc import Sequence

from unified_state.archive.archive import Archive
from unified_state.errors import UsageError
from unified_state.ledger.change_log import ACCEPTS, REJECTS, Pair, note_change
from unified_state.ledger.gate import pass_gate_for
from unified_state.ledger.item_table import (
    ACTIVE,
    DISMISSED,
    PROPOSED,
    RESOLVED,
    SUPERSEDED,
    find_item,
    selected_items,
    update_item,
)
from unified_state.ledger.record_item import Author, checked, replace_by
from unified_state.ledger.rules.short_item import may_decide
from unified_state.ledger.waiting_notes import WaitingNote, end_waiting, status_in_file, take_over
from unified_state.lib.times import to_text
from unified_state.model.constraint import USER_SAID
from unified_state.model.item import LedgerItem


def accept(
    archive: Archive, refs: Sequence[str], author: Author, now: int, notes: Sequence[WaitingNote] = (), deed: str = ""
) -> list[LedgerItem]:
    """Accept proposals as the user's statements, and return them. Each supersedes the items that it changes. One that a
    state file shows as settled is settled.

    `notes` of a state file are taken over with them. `deed` is what the user confirms then, as in `takes over 3
    entries`. A prompt that the user typed has confirmed the proposals, but not the change of a rule.
    """
    proposals = _proposals(archive, refs, author.origin)
    _check_agree(archive, proposals)
    changed = [older for proposal in proposals for older in changed_by(archive, proposal)]
    names = ", ".join(proposal.alias for proposal in proposals)
    verb = "confirms or replaces" if len(proposals) == 1 else "confirm or replace"
    pass_gate_for(
        {item.uuid: item for item in (*(() if author.is_typed else proposals), *changed)}.values(),
        author.origin,
        f"accepts {names}, which {verb}",
        deed=deed,
    )
    with archive.transaction():
        pairs: list[Pair] = []
        # a UUID begins with the time, and a newer one may change an older one
        for proposal in sorted(_proposals(archive, refs, author.origin), key=lambda item: item.uuid):
            pairs += _accept(archive, proposal, now)
        take_over(archive, [waiting.note for waiting in notes], now)
        end_waiting(archive, notes, to_text(now))
        if pairs:
            note_change(archive, ACCEPTS, author.origin, author.session_id, pairs, to_text(now))
    return [find_item(archive, proposal.uuid) for proposal in proposals]


def _accept(archive: Archive, proposal: LedgerItem, now: int) -> list[Pair]:
    """Accept a proposal. Return all changed items, before and after. Call it in a transaction."""
    status = status_in_file(proposal)
    status = status if status in (SUPERSEDED, RESOLVED) else ACTIVE
    item = proposal.replace(status=status, origin=USER_SAID, changed_at=to_text(now), paged_out_at=None)
    update_item(archive, item)
    changed = [older for older in changed_by(archive, proposal) if older.status in (ACTIVE, PROPOSED)]
    return [(proposal, item), *((older, replace_by(archive, older, item, now)) for older in changed)]


def reject(
    archive: Archive, refs: Sequence[str], author: Author, now: int, notes: Sequence[WaitingNote] = (), why: str = ""
) -> list[LedgerItem]:
    """Reject proposals and notes of a state file, and return the former. They are not captured again."""
    if not author.is_typed:
        pass_gate_for(_proposals(archive, refs, author.origin), author.origin, "dismisses")
    at = to_text(now)
    told = {"resolution": checked("why", why, archive.masked), "resolvedAt": at} if why else {}
    with archive.transaction():
        proposals = _proposals(archive, refs, author.origin)
        rejected = [item.replace(status=DISMISSED, body={**item.body, **told}, changed_at=at) for item in proposals]
        for item in rejected:
            update_item(archive, item)
        end_waiting(archive, notes, at)
        if rejected:
            pairs = zip(proposals, rejected, strict=True)
            note_change(archive, REJECTS, author.origin, author.session_id, pairs, at)
    return rejected


def changed_by(archive: Archive, proposal: LedgerItem) -> list[LedgerItem]:
    """Return the items that a proposal would change."""
    links = "SELECT to_uuid FROM item_link WHERE from_uuid = ? AND relation = 'changes'"
    return selected_items(archive, f"WHERE uuid IN ({links}) ORDER BY id", proposal.uuid)


def _proposals(archive: Archive, refs: Sequence[str], origin: str) -> list[LedgerItem]:
    """Return the proposals of some refs. Raises UsageError where one waits no more."""
    if not may_decide(origin):
        message = f"only the user accepts or dismisses {', '.join(refs) or 'what a state file holds'}"
        raise UsageError(message, "ask them to run this in a terminal of their own")
    items = {item.uuid: item for item in (find_item(archive, ref) for ref in refs)}
    for item in items.values():
        if item.status != PROPOSED:
            message = f"{item.alias} is {item.status}, not proposed"
            raise UsageError(message, "`unified-state inbox` lists what waits for you")
    return list(items.values())


def _check_agree(archive: Archive, proposals: Sequence[LedgerItem]) -> None:
    """Raise UsageError where two proposals change the same item, and neither changes the other."""
    changed = {item.alias: {older.alias for older in changed_by(archive, item)} for item in proposals}
    for number, one in enumerate(proposals):
        for other in proposals[number + 1 :]:
            both = changed[one.alias] & changed[other.alias]
            if both and one.alias not in changed[other.alias] and other.alias not in changed[one.alias]:
                message = f"{one.alias} and {other.alias} both change {min(both)}"
                raise UsageError(message, "accept one of them, and reject the other")
