"""Proposals: what was captured and is likely but not certain, or was changed by hand, until the user decides on it.

A proposal is never shown as a fact. One that is dismissed stays dismissed: what it was taken from is not captured
again.
"""

from __future__ import annotations

from unified_state.errors import UsageError
from unified_state.rules.timestamps import to_text
from unified_state.storage.ledger import ACTIVE, DISMISSED, PROPOSED, SUPERSEDED, find_item, link_items, update_item

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.records.item import LedgerItem
    from unified_state.storage.archive import Archive


def accept(archive: Archive, ref: str, now: int) -> LedgerItem:
    """A proposal is a fact from now on; an item that it proposed to change is superseded by it."""
    at = to_text(now)
    with archive.transaction():
        item = _proposal(archive, ref).replace(status=ACTIVE, changed_at=at, paged_out_at=None, estimate=None)
        update_item(archive, item)
        for (uuid,) in archive.rows(
            "SELECT to_uuid FROM item_link WHERE from_uuid = ? AND relation = 'changes'", item.uuid
        ):
            changed = find_item(archive, uuid)
            if changed.status == ACTIVE:
                older = changed.replace(status=SUPERSEDED, superseded_by=item.uuid, changed_at=at, estimate=None)
                update_item(archive, older)
                link_items(archive, item, "supersedes", older, at)
    return item


def dismiss(archive: Archive, ref: str, now: int) -> LedgerItem:
    """A proposal is none any more, and is not made again."""
    with archive.transaction():
        item = _proposal(archive, ref).replace(status=DISMISSED, changed_at=to_text(now))
        update_item(archive, item)
    return item


def _proposal(archive: Archive, ref: str) -> LedgerItem:
    item = find_item(archive, ref)
    if item.status != PROPOSED:
        message = f"{item.alias} is {item.status}, not proposed"
        raise UsageError(message, "`unified-state proposed` lists what waits for you")
    return item
