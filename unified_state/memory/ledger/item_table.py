"""The ledger: every state item there ever was and what became of it. Nothing leaves it but by the user's `forget`.

Aliases (`D7`) come from a counter that only grows, in the same transaction as the item, so that none is ever given
twice, whoever writes and from whichever worktree.
"""

from __future__ import annotations

from unified_state.errors import NotFoundError
from unified_state.lib.stdlib import dump_json, parse_json
from unified_state.lib.text import UNREADABLE, pack, unpack
from unified_state.model.item import (
    ALIAS_LETTERS,
    ATTEMPT,
    CONSTRAINT,
    DECISION,
    EVIDENCE,
    MAIN_FIELDS,
    QUESTION,
    STATUSES,
    LedgerItem,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from unified_state.memory.archive.archive import Archive

ACTIVE, PROPOSED, SUPERSEDED, RESOLVED, DISMISSED = STATUSES

# The fields of a body beside its main one, each with the value of an item where it is missing or of another type.
OTHER_FIELDS: dict[str, dict[str, Any]] = {
    DECISION: {"rationale": "", "reversible": True},
    CONSTRAINT: {"source": "", "blocking": False},
    QUESTION: {"context": "", "priority": "medium"},
    EVIDENCE: {"type": "observation", "source": ""},
    ATTEMPT: {"outcome": ""},
}
_COLUMNS = (
    "uuid, alias, kind, body, status, origin, created_at, session_id, source_uuid, commit_id, branch, files, "
    "changed_at, superseded_by, estimate, paged_out_at, quote, quote_hash, rule, capture_key, compaction, file_hashes"
)
# How the fields are stored that are no plain values.
_STORED: dict[str, Callable[[Any], Any]] = {
    "body": lambda body: pack(dump_json(body)),
    "files": lambda files: dump_json(list(files)) if files else None,
    "quote": lambda quote: None if quote is None else pack(quote),
    "file_hashes": lambda hashes: dump_json(hashes) if hashes else None,
}
_CHANGING = "body, status, files, changed_at, superseded_by, estimate, paged_out_at, file_hashes"
_PLACES = ", ".join("?" * len(LedgerItem.names))


def next_alias(archive: Archive, kind: str) -> str:
    """A fresh alias of the kind. Call it in the transaction that uses it."""
    letter = ALIAS_LETTERS[kind]
    archive.run("INSERT INTO counter VALUES (?, 1) ON CONFLICT (letter) DO UPDATE SET last = last + 1", letter)
    return f"{letter}{archive.row('SELECT last FROM counter WHERE letter = ?', letter)[0]}"


def raise_counter(archive: Archive, letter: str, least: int) -> None:
    """Aliases up to this number are taken (by a state file that is older than this archive)."""
    archive.run(
        "INSERT INTO counter VALUES (?, ?) ON CONFLICT (letter) DO UPDATE SET last = max(last, excluded.last)",
        letter,
        least,
    )


def last_numbers(archive: Archive) -> dict[str, int]:
    """The last number given for each letter."""
    return dict(archive.rows("SELECT letter, last FROM counter"))


def insert_item(archive: Archive, item: LedgerItem) -> None:
    """Put an item into the ledger."""
    archive.run(f"INSERT INTO item ({_COLUMNS}) VALUES ({_PLACES})", *_values(item))


def replace_item(archive: Archive, item: LedgerItem) -> None:
    """Put a newer version of an item in its place, whole: what another store knows of it."""
    archive.run(f"UPDATE item SET ({_COLUMNS}) = ({_PLACES}) WHERE uuid = ?", *_values(item), item.uuid)


def _values(item: LedgerItem) -> list[Any]:
    return [_STORED[name](value) if name in _STORED else value for name, value in item.as_dict().items()]


def update_item(archive: Archive, item: LedgerItem) -> None:
    """Write back an item that changed: its status, body, files, size, or whether it is in the state file."""
    later = archive.row("SELECT changed_at FROM item WHERE uuid = ? AND changed_at > ?", item.uuid, item.changed_at)
    if later is not None:  # the clock went back, and of two versions the later one counts
        from unified_state.model.history_records import time_behind

        item = item.replace(changed_at=time_behind(later[0], str(item.changed_at)))
    values = dict(zip(_COLUMNS.split(", "), _values(item), strict=True))
    changed = [values[name] for name in _CHANGING.split(", ")]
    archive.run(
        f"UPDATE item SET ({_CHANGING}) = ({', '.join('?' * len(changed))}) WHERE uuid = ?", *changed, item.uuid
    )


def note_place(archive: Archive, item: LedgerItem) -> None:
    """Note the size of an item and whether it is in the state file, unless it changed since it was read."""
    unchanged = "UPDATE item SET (estimate, paged_out_at) = (?, ?) WHERE uuid = ? AND changed_at IS ?"
    archive.run(unchanged, item.estimate, item.paged_out_at, item.uuid, item.changed_at)


def link_items(archive: Archive, item: LedgerItem, relation: str, other: LedgerItem, at: str) -> None:
    """Note that one item supersedes, duplicates or contradicts another."""
    archive.run("INSERT OR IGNORE INTO item_link VALUES (?, ?, ?, ?)", item.uuid, other.uuid, relation, at)


def find_item(archive: Archive, ref: str) -> LedgerItem:
    """An item by its alias, by one that it had before a merge and no other has now, or by its UUID. Raises
    NotFoundError.
    """
    found = items_called(archive, ref)
    if not found:
        message = f"there is no item {ref}"
        hint = "`unified-state search` finds items and turns, `unified-state decision list` lists them"
        raise NotFoundError(message, hint)
    return found[0]


def items_called(archive: Archive, ref: str) -> list[LedgerItem]:
    """The item with that UUID, or all that have or had that alias, the one that has it now first."""
    where = "WHERE alias = ?1 OR uuid IN (?2, ?3) OR uuid IN (SELECT uuid FROM item_alias WHERE alias = ?1)"
    return selected_items(archive, f"{where} ORDER BY alias != ?1, id", ref.upper(), ref.lower(), ref)


def list_items(archive: Archive, kind: str | None = None, statuses: Iterable[str] = ()) -> list[LedgerItem]:
    """All items, or those of a kind, or in some statuses; the oldest first."""
    conditions, values = (["kind = ?"], [kind]) if kind else ([], [])
    if statuses:
        chosen = list(statuses)
        conditions.append(f"status IN ({', '.join('?' * len(chosen))})")
        values += chosen
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    return selected_items(archive, f"{where} ORDER BY id", *values)


def searched_items(archive: Archive, kind: str | None) -> list[LedgerItem]:
    """The items among which a search looks: all of a kind; else all but captured evidence, whose steps are found."""
    condition, values = ("kind = ?", (kind,)) if kind else ("(kind != 'evidence' OR rule IS NULL)", ())
    return selected_items(archive, f"WHERE {condition} ORDER BY id", *values)


def newest_items(archive: Archive, kind: str, limit: int) -> list[LedgerItem]:
    """The newest active items of a kind, the newest first."""
    return selected_items(archive, "WHERE kind = ? AND status = ? ORDER BY id DESC LIMIT ?", kind, ACTIVE, limit)


def stated_items(archive: Archive, statuses: Iterable[str]) -> list[LedgerItem]:
    """The items in some statuses, but for the evidence that was captured and is not in the state file, of which a long
    session has thousands; the oldest first.
    """
    chosen = list(statuses)
    return selected_items(
        archive,
        f"WHERE status IN ({', '.join('?' * len(chosen))}) "
        "AND (rule IS NULL OR kind IN ('decision', 'constraint', 'question') OR paged_out_at IS NULL) ORDER BY id",
        *chosen,
    )


def items_in_file(archive: Archive, status: str | None = None) -> list[LedgerItem]:
    """The items that the state file shows, or those of them in one status; the oldest first."""
    condition, value = ("status != ?", DISMISSED) if status is None else ("status = ?", status)
    return selected_items(archive, f"WHERE paged_out_at IS NULL AND {condition} ORDER BY id", value)


def captured_items(archive: Archive) -> list[LedgerItem]:
    """All items that a rule captured."""
    return selected_items(archive, "WHERE rule NOT NULL ORDER BY id")


def paged_out_refs(archive: Archive, limit: int = 500) -> tuple[str, ...]:
    """The newest items that are active and not in the state file, the oldest of them first: what somebody decided,
    asked or recorded. What was captured as evidence is too much to name.
    """
    rows = archive.rows(
        "SELECT alias FROM item WHERE status = ? AND paged_out_at NOT NULL "
        "AND (rule IS NULL OR kind IN ('decision', 'constraint', 'question')) ORDER BY id DESC LIMIT ?",
        ACTIVE,
        limit,
    )
    return tuple(alias for (alias,) in reversed(rows))


def count_items(archive: Archive, status: str) -> int:
    """How many items there are in a status."""
    return int(archive.row("SELECT count(*) FROM item WHERE status = ?", status)[0])


def items_of_rule(archive: Archive, rule: str, session_id: str, limit: int) -> list[LedgerItem]:
    """The newest active items that a rule captured in a session, the newest first."""
    where = "WHERE rule = ? AND session_id = ? AND status = ? ORDER BY id DESC LIMIT ?"
    return selected_items(archive, where, rule, session_id, ACTIVE, limit)


def forget_item(archive: Archive, uuid: str) -> None:
    """Take an item out of the ledger. Its alias stays taken, no state file brings it back, and it is not captured
    again.
    """
    archive.run("INSERT OR IGNORE INTO item_alias SELECT alias, '' FROM item WHERE uuid = ?", uuid)
    archive.run("INSERT OR IGNORE INTO uncaptured SELECT capture_key FROM item WHERE uuid = ? AND rule NOT NULL", uuid)
    from unified_state.memory.archive.text_columns import forget_texts  # only where something is forgotten

    forget_texts(archive, "item", uuid)


def is_forgotten(archive: Archive, alias: str) -> bool:
    """Whether an item of that alias was forgotten."""
    return archive.row("SELECT 1 FROM item_alias WHERE alias = ? AND uuid = ''", alias) is not None


def selected_items(archive: Archive, where: str, *values: Any) -> list[LedgerItem]:
    """The items that the end of a query, in SQL, selects."""
    return [_item(row) for row in archive.rows(f"SELECT {_COLUMNS} FROM item {where}", *values)]


def _item(row: Any) -> LedgerItem:
    known = dict(zip(LedgerItem.names, row, strict=True))
    known["body"] = read_body(known["kind"], unpack(known["body"]))
    known["files"] = tuple(parse_json(known["files"])) if known["files"] else ()
    known["quote"] = None if known["quote"] is None else unpack(known["quote"])
    known["file_hashes"] = parse_json(known["file_hashes"]) if known["file_hashes"] else {}
    return LedgerItem(**known)


def read_body(kind: str, text: str) -> dict[str, Any]:
    """The body of an item of that kind; one that says so where the disk has changed it."""
    unreadable = {MAIN_FIELDS[kind]: UNREADABLE, **OTHER_FIELDS[kind]}
    try:
        body = {**parse_json(text)}
    except (ValueError, TypeError):
        return unreadable
    return body if {MAIN_FIELDS[kind], "type"} & unreadable.keys() <= body.keys() else unreadable | body
