"""The sources of items and the links between them.

Invariant: an item's quote and its hash are always written together.
"""

from __future__ import annotations

from unified_state.lib.record import Record
from unified_state.lib.text import pack, unpack
from unified_state.memory.archive.steps import KIND_NUMBERS, uuid_key
from unified_state.memory.ledger.item_table import ACTIVE, PROPOSED, read_body, selected_items
from unified_state.model.item import MAIN_FIELDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unified_state.memory.archive.archive import Archive
    from unified_state.model.item import LedgerItem


class Link(Record):
    """A relation of an item to another: `supersedes`, `duplicates`, `contradicts`, `changes`.

    `is_from` says that the item is the subject of the relation, for example the one that supersedes the other.
    """

    relation: str
    ref: str
    is_from: bool
    status: str


def set_source(archive: Archive, item: LedgerItem) -> None:
    """Update the origin of an item, the status that follows from it, its source entry and its quote."""
    archive.run(
        "UPDATE item SET origin = ?, status = ?, source_uuid = ?, quote = ?, quote_hash = ? WHERE uuid = ?",
        item.origin,
        item.status,
        item.source_uuid,
        None if item.quote is None else pack(item.quote),
        item.quote_hash,
        item.uuid,
    )


def drop_quotes(archive: Archive, items: Iterable[LedgerItem]) -> None:
    """Delete the quotes of items whose source was forgotten."""
    for item in items:
        set_source(archive, item.replace(quote=None, quote_hash=None))


def items_without_source(archive: Archive, session_id: str, since: str, limit: int) -> list[LedgerItem]:
    """Return the items that a session recorded since then and that have no source entry, the newest first.

    The user's own items need none. Captured ones and those of summaries have another source.
    """
    where = (
        "WHERE source_uuid IS NULL AND session_id = ? AND created_at >= ? "
        "AND origin != 'user_said' AND rule IS NULL AND compaction IS NULL ORDER BY created_at DESC LIMIT ?"
    )
    return selected_items(archive, where, session_id, since, limit)


def texts_with_a_word(
    archive: Archive, kinds: Sequence[str], words: Iterable[str], most: int
) -> list[tuple[str, str, str]]:
    """Return UUID, kind and text of the newest active and proposed items of some kinds that hold any of the lower-case
    words, the oldest first.
    """
    rows = archive.rows(
        f"SELECT uuid, kind, body FROM item WHERE kind IN ({', '.join('?' * len(kinds))}) AND status IN (?, ?) "
        "ORDER BY id DESC LIMIT ?",
        *kinds,
        ACTIVE,
        PROPOSED,
        most,
    )
    wanted = tuple(words)
    found = []
    for uuid, kind, body in reversed(rows):
        text = unpack(body)
        lowered = text.lower()
        if any(word in lowered for word in wanted):
            found.append((uuid, kind, str(read_body(kind, text).get(MAIN_FIELDS[kind]) or "")))
    return found


def items_of_entry(archive: Archive, uuid: str) -> list[LedgerItem]:
    """Return the items whose source is a transcript entry."""
    return selected_items(archive, "WHERE source_uuid = ?", uuid)


def items_of_summary(archive: Archive, compaction: int) -> list[LedgerItem]:
    """Return the items whose source is the summary of a compaction."""
    return selected_items(archive, "WHERE compaction = ?", compaction)


def links_of(archive: Archive, item: LedgerItem) -> list[Link]:
    """Return the links of an item, in both directions."""
    rows = archive.rows(
        "SELECT relation, alias, 1, status, at FROM item_link JOIN item ON item.uuid = to_uuid WHERE from_uuid = ?1 "
        "UNION ALL "
        "SELECT relation, alias, 0, status, at FROM item_link JOIN item ON item.uuid = from_uuid WHERE to_uuid = ?1 "
        "ORDER BY 5, 2",
        item.uuid,
    )
    return [Link(relation, alias, bool(is_from), status) for relation, alias, is_from, status, _ in rows]


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


def contradictions(archive: Archive) -> dict[str, tuple[str, ...]]:
    """Return the refs of the active items that contradict each active item, by its UUID."""
    found: dict[str, tuple[str, ...]] = {}
    rows = archive.rows(
        "SELECT one.uuid, one.alias, other.uuid, other.alias FROM item_link JOIN item AS one ON one.uuid = from_uuid "
        "JOIN item AS other ON other.uuid = to_uuid "
        "WHERE relation = 'contradicts' AND one.status = 'active' AND other.status = 'active' ORDER BY other.id, one.id"
    )
    for uuid, alias, other_uuid, other_alias in rows:
        found[uuid] = (*found.get(uuid, ()), other_alias)
        found[other_uuid] = (*found.get(other_uuid, ()), alias)
    return found
