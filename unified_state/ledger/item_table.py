"""The ledger: every item ever recorded, with its status and its links to others. Only the user's `forget` deletes one.

Aliases (`D7`) come from a counter that only grows, in the same transaction as the item, so no two processes in any
worktrees get the same alias.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.errors import NotFoundError
from unified_state.lib.json_text import dump_json, parse_json
from unified_state.lib.record import Record
from unified_state.lib.text import UNREADABLE, pack, unpack
from unified_state.lib.times import latest_time
from unified_state.model.item import (
    ALIAS_LETTERS,
    MAIN_FIELDS,
    OTHER_FIELDS,
    STATUSES,
    LedgerItem,
)
from unified_state.model.refs import GLOBAL_MARK

ACTIVE, PROPOSED, SUPERSEDED, RESOLVED, DISMISSED = STATUSES

_COLUMNS = (
    "uuid, alias, kind, body, status, origin, created_at, session_id, source_uuid, commit_id, branch, files, "
    "changed_at, superseded_by, paged_out_at, quote, quote_hash, rule, capture_key, compaction, file_hashes"
)
# The encoding of the fields that are not plain values.
_STORED: dict[str, Callable[[Any], Any]] = {
    "body": lambda body: pack(dump_json(body)),
    "files": lambda files: dump_json(list(files)) if files else None,
    "quote": lambda quote: None if quote is None else pack(quote),
    "file_hashes": lambda hashes: dump_json(hashes) if hashes else None,
}
_BUT_CAPTURED_EVIDENCE = "(rule IS NULL OR kind IN ('decision', 'constraint', 'question'))"
_MOST_RESTORED = 500
_PLACES = ", ".join("?" * len(LedgerItem.names))


class Link(Record):
    """A relation of an item to another: `supersedes`, `changes`.

    `is_from` says that the item is the subject of the relation, for example the one that supersedes the other.
    """

    relation: str
    ref: str
    is_from: bool
    status: str


def next_alias(archive: Archive, kind: str) -> str:
    """Return a new alias of the kind. Call it in the transaction that uses it."""
    letter = ALIAS_LETTERS[kind]
    archive.run("INSERT INTO counter VALUES (?, 1) ON CONFLICT (letter) DO UPDATE SET last = last + 1", letter)
    return f"{letter}{archive.row('SELECT last FROM counter WHERE letter = ?', letter)[0]}"


def raise_counter(archive: Archive, letter: str, least: int) -> None:
    """Make new aliases start above this number."""
    archive.run(
        "INSERT INTO counter VALUES (?, ?) ON CONFLICT (letter) DO UPDATE SET last = max(last, excluded.last)",
        letter,
        least,
    )


def insert_item(archive: Archive, item: LedgerItem) -> None:
    """Insert an item."""
    archive.run(f"INSERT INTO item ({_COLUMNS}) VALUES ({_PLACES})", *_values(item))


def _values(item: LedgerItem) -> list[Any]:
    return [_STORED[name](value) if name in _STORED else value for name, value in item.as_dict().items()]


def update_item(archive: Archive, item: LedgerItem) -> None:
    """Replace an item by a newer version."""
    archive.run(f"UPDATE item SET ({_COLUMNS}) = ({_PLACES}) WHERE uuid = ?", *_values(item), item.uuid)


def leave_file(archive: Archive, items: Iterable[LedgerItem], at: str) -> None:
    """Mark items as paged out of the state file, unless they changed since they were read."""
    unchanged = "UPDATE item SET paged_out_at = ? WHERE uuid = ? AND changed_at IS ?"
    with archive.transaction():
        for item in items:
            archive.run(unchanged, at, item.uuid, item.changed_at)


def link_items(archive: Archive, item: LedgerItem, relation: str, other: LedgerItem, at: str) -> None:
    """Insert the link by which one item supersedes or changes another."""
    archive.run("INSERT OR IGNORE INTO item_link VALUES (?, ?, ?, ?)", item.uuid, other.uuid, relation, at)


def find_item(archive: Archive, ref: str) -> LedgerItem:
    """Return the item with an alias, a former alias or a UUID. Raises NotFoundError."""
    found = items_called(archive, ref)
    if not found:
        message = f"there is no item {ref}"
        hint = "`unified-state search` finds items and turns, `unified-state list` prints what holds"
        if ref.startswith(GLOBAL_MARK):
            hint = "only the user changes what holds for all projects, in a terminal of their own"
        raise NotFoundError(message, hint)
    return found[0]


def items_called(archive: Archive, ref: str) -> list[LedgerItem]:
    """Return the items with that UUID, alias or former alias, the present owner of the alias first."""
    where = "WHERE alias = ?1 OR uuid IN (?2, ?3) OR uuid IN (SELECT uuid FROM item_alias WHERE alias = ?1)"
    return selected_items(archive, f"{where} ORDER BY alias != ?1, id", ref.upper(), ref.lower(), ref)


def list_items(archive: Archive, kind: str | None = None, statuses: Iterable[str] = ()) -> list[LedgerItem]:
    """Return the items, of a kind and in some statuses if given, the oldest first."""
    conditions, values = (["kind = ?"], [kind]) if kind else ([], [])
    if statuses:
        chosen = list(statuses)
        conditions.append(f"status IN ({', '.join('?' * len(chosen))})")
        values += chosen
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    return selected_items(archive, f"{where} ORDER BY id", *values)


def searched_items(archive: Archive, kind: str | None) -> list[LedgerItem]:
    """Return the items that a search covers: all of a kind, or all but captured evidence, because its steps are
    found.
    """
    condition, values = ("kind = ?", (kind,)) if kind else ("(kind != 'evidence' OR rule IS NULL)", ())
    return selected_items(archive, f"WHERE {condition} ORDER BY id", *values)


def newest_items(archive: Archive, kind: str, limit: int, now: int) -> list[LedgerItem]:
    """Return the newest active items of a kind, the newest first: by the time of what was recorded, not by the order
    in which it was. Those of a time still to come are the last.
    """
    order = "ORDER BY created_at > ?1, created_at DESC, id DESC"
    where = f"WHERE id IN (SELECT id FROM item WHERE kind = ?2 AND status = ?3 {order} LIMIT ?4) {order}"
    return selected_items(archive, where, latest_time(now), kind, ACTIVE, limit)


def stated_items(archive: Archive, statuses: Iterable[str]) -> list[LedgerItem]:
    """Return the items in some statuses, the oldest first.

    Captured evidence that has left the state file is omitted, because a long session has thousands.
    """
    chosen = list(statuses)
    where = f"WHERE status IN ({', '.join('?' * len(chosen))}) AND ({_BUT_CAPTURED_EVIDENCE} OR paged_out_at IS NULL)"
    return selected_items(archive, f"{where} ORDER BY id", *chosen)


def items_in_file(archive: Archive) -> list[LedgerItem]:
    """Return the items of the state file, the oldest first.

    The index is named, because most items have left the file, and SQLite would read all of them.
    """
    where = "INDEXED BY item_in_file WHERE paged_out_at IS NULL AND status != ? ORDER BY id"
    return selected_items(archive, where, DISMISSED)


def items_to_load(archive: Archive) -> list[LedgerItem]:
    """Return the items of the state file, and the active and proposed ones that have left it, the oldest first.

    Captured evidence is omitted, as above.
    """
    left = f"(status IN (?, ?) AND {_BUT_CAPTURED_EVIDENCE})"
    where = f"WHERE (paged_out_at IS NULL AND status != ?) OR {left} ORDER BY id"
    return selected_items(archive, where, DISMISSED, ACTIVE, PROPOSED)


def items_to_restore(archive: Archive) -> list[LedgerItem]:
    """Return the newest active items, in order, and of what was captured as evidence only what the state file has."""
    newest = (
        f"SELECT id FROM item WHERE status = ? AND (paged_out_at IS NULL OR {_BUT_CAPTURED_EVIDENCE}) "
        "ORDER BY kind = 'constraint' DESC, id DESC LIMIT ?"
    )
    return selected_items(archive, f"WHERE id IN ({newest}) ORDER BY id", ACTIVE, _MOST_RESTORED)


def paged_out_refs(archive: Archive) -> tuple[str, ...]:
    """Return the refs of the newest active items that have left the state file, the oldest first, without captured
    evidence.
    """
    where = f"WHERE status = ? AND paged_out_at NOT NULL AND {_BUT_CAPTURED_EVIDENCE}"
    refs = archive.column(f"SELECT alias FROM item {where} ORDER BY id DESC LIMIT ?", ACTIVE, _MOST_RESTORED)
    return tuple(reversed(refs))


def count_items(archive: Archive, status: str) -> int:
    """Return the number of items in a status."""
    return int(archive.row("SELECT count(*) FROM item WHERE status = ?", status)[0])


def items_of_rule(archive: Archive, rule: str, session_id: str, limit: int) -> list[LedgerItem]:
    """Return the newest active items that a rule captured in a session, the newest first."""
    where = "WHERE rule = ? AND session_id = ? AND status = ? ORDER BY id DESC LIMIT ?"
    return selected_items(archive, where, rule, session_id, ACTIVE, limit)


def forget_item(archive: Archive, uuid: str) -> None:
    """Delete an item. Its alias stays taken, no state file brings it back, and it is not captured again."""
    archive.run("INSERT OR IGNORE INTO item_alias SELECT alias, '' FROM item WHERE uuid = ?", uuid)
    archive.run(
        "INSERT OR IGNORE INTO uncaptured SELECT capture_key FROM item WHERE uuid = ? AND capture_key NOT NULL", uuid
    )
    from unified_state.archive.text_columns import forget_texts  # only where something is forgotten

    forget_texts(archive, "item", uuid)


def is_forgotten(archive: Archive, alias: str) -> bool:
    """Return whether an item of that alias was forgotten."""
    return archive.row("SELECT 1 FROM item_alias WHERE alias = ? AND uuid = ''", alias) is not None


def selected_items(archive: Archive, where: str, *values: Any) -> list[LedgerItem]:
    """Return the items that a WHERE clause selects."""
    return [_item(row) for row in archive.rows(f"SELECT {_COLUMNS} FROM item {where}", *values)]


def _item(row: Any) -> LedgerItem:
    known = dict(zip(LedgerItem.names, row, strict=True))
    known["body"] = read_body(known["kind"], unpack(known["body"]))
    known["files"] = tuple(parse_json(known["files"])) if known["files"] else ()
    known["quote"] = None if known["quote"] is None else unpack(known["quote"])
    known["file_hashes"] = parse_json(known["file_hashes"]) if known["file_hashes"] else {}
    return LedgerItem(**known)


def read_body(kind: str, text: str) -> dict[str, Any]:
    """Return the body of an item, with placeholders for fields that the disk has damaged."""
    unreadable = {MAIN_FIELDS[kind]: UNREADABLE, **OTHER_FIELDS[kind]}
    try:
        body = {**parse_json(text)}
    except (ValueError, TypeError):
        return unreadable
    return body if {MAIN_FIELDS[kind], "type"} & unreadable.keys() <= body.keys() else unreadable | body


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
