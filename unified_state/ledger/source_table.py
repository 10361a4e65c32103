"""The sources of items.

Invariant: an item's quote and its hash are always written together.
"""

from __future__ import annotations

from collections.abc import Iterable

from unified_state.archive.archive import Archive
from unified_state.archive.steps import KIND_NUMBERS, uuid_key
from unified_state.ledger.item_table import selected_items, update_item
from unified_state.model.item import LedgerItem


def drop_quotes(archive: Archive, items: Iterable[LedgerItem]) -> None:
    """Delete the quotes of items whose source was forgotten."""
    for item in items:
        update_item(archive, item.replace(quote=None, quote_hash=None))


def items_of_entry(archive: Archive, uuid: str) -> list[LedgerItem]:
    """Return the items whose source is a transcript entry."""
    return selected_items(archive, "WHERE source_uuid = ?", uuid)


def items_of_summary(archive: Archive, compaction: int) -> list[LedgerItem]:
    """Return the items whose source is the summary of a compaction."""
    return selected_items(archive, "WHERE compaction = ?", compaction)


def entry_steps(archive: Archive, uuid: str) -> list[int]:
    """Return the numbers of the steps of a transcript entry, in order, including forgotten steps."""
    return [row[0] for row in archive.rows("SELECT id FROM step WHERE uuid = ? ORDER BY id", uuid_key(uuid))]


def steps_before(
    archive: Archive, session: int, kinds: tuple[str, ...], after: int, until: int, limit: int
) -> list[int]:
    """Return the numbers of a session's steps of some kinds in a period, the newest first."""
    numbers = [KIND_NUMBERS[kind] for kind in kinds]
    rows = archive.rows(
        "SELECT step.id FROM turn JOIN step ON step.turn = turn.id WHERE turn.session = ? AND turn.at BETWEEN ? AND ? "
        f"AND step.at <= ? AND kind IN ({', '.join('?' * len(numbers))}) ORDER BY step.id DESC LIMIT ?",
        session,
        after,
        until,
        until,
        *numbers,
        limit,
    )
    return [row[0] for row in rows]


def turn_at(archive: Archive, session: int, at: int) -> int | None:
    """Return the turn of a session that was running at a time."""
    row = archive.row(
        "SELECT id FROM turn WHERE session = ? AND agent IS NULL AND at <= ? ORDER BY at DESC, id DESC LIMIT 1",
        session,
        at,
    )
    return None if row is None else row[0]
