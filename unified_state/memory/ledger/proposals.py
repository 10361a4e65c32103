"""Proposals: what was captured and is likely but not certain, or was changed by hand, until the user decides on it.

A proposal is never shown as a fact. One that is dismissed stays dismissed: what it was taken from is not captured
again. Only the user decides, in their own terminal.
"""

from __future__ import annotations

from unified_state.errors import UsageError
from unified_state.lib.times import to_text
from unified_state.memory.ledger.gate import pass_gate_for
from unified_state.memory.ledger.item_table import (
    ACTIVE,
    DISMISSED,
    PROPOSED,
    SUPERSEDED,
    find_item,
    link_items,
    update_item,
)
from unified_state.memory.ledger.rules.binding import may_decide
from unified_state.memory.ledger.source_table import set_source
from unified_state.model.constraint import USER_SAID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.archive.archive import Archive
    from unified_state.model.item import LedgerItem


def accept(archive: Archive, ref: str, origin: str, now: int) -> LedgerItem:
    """A proposal is a fact from now on, and the user's word; an item that it proposed to change is superseded by it."""
    at = to_text(now)
    proposal = _proposal(archive, ref, origin)
    changed = _changed_by(archive, proposal)
    pass_gate_for([proposal, *changed], origin, f"accepts {proposal.alias}, which confirms or replaces")
    with archive.transaction():
        item = _proposal(archive, ref, origin).replace(
            status=ACTIVE, origin=USER_SAID, changed_at=at, paged_out_at=None, estimate=None
        )
        update_item(archive, item)
        set_source(archive, item)  # it is the user's word from now on
        for one in changed:
            older = find_item(archive, one.uuid)
            if older.status == ACTIVE:
                older = older.replace(status=SUPERSEDED, superseded_by=item.uuid, changed_at=at, estimate=None)
                update_item(archive, older)
                link_items(archive, item, "supersedes", older, at)
    return item


def dismiss(archive: Archive, ref: str, origin: str, now: int) -> LedgerItem:
    """A proposal is none any more, and is not made again."""
    pass_gate_for([_proposal(archive, ref, origin)], origin, "dismisses")
    with archive.transaction():
        item = _proposal(archive, ref, origin).replace(status=DISMISSED, changed_at=to_text(now))
        update_item(archive, item)
    return item


def _changed_by(archive: Archive, proposal: LedgerItem) -> list[LedgerItem]:
    """The items that a proposal would change."""
    rows = archive.rows("SELECT to_uuid FROM item_link WHERE from_uuid = ? AND relation = 'changes'", proposal.uuid)
    return [find_item(archive, uuid) for (uuid,) in rows]


def _proposal(archive: Archive, ref: str, origin: str) -> LedgerItem:
    if not may_decide(origin):
        message = f"only the user accepts or dismisses {ref}"
        raise UsageError(message, "ask them to run this in a terminal of their own")
    item = find_item(archive, ref)
    if item.status != PROPOSED:
        message = f"{item.alias} is {item.status}, not proposed"
        raise UsageError(message, "`unified-state proposed` lists what waits for you")
    return item
