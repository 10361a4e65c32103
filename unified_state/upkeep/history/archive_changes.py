"""Inserts records of another store into the archive: steps turn by turn, and the newer version of sessions, items and
compactions.

An alias is the archive's own name for an item: a new item whose alias is taken, or was ever given, gets the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.archive.sessions import known_session
from unified_state.archive.steps import find_step, uuid_key
from unified_state.archive.text_columns import note_rewrite, replace_text
from unified_state.archive.write_steps import StepWriter
from unified_state.ledger.item_table import (
    insert_item,
    items_called,
    next_alias,
    raise_counter,
    update_item,
)
from unified_state.lib.text import pack
from unified_state.model.history_records import (
    COLUMNS,
    COMPACTION,
    ITEM,
    SESSION,
    STEP,
    HistoryRecord,
    StoredCompaction,
    StoredItem,
    StoredLink,
    StoredSession,
    StoredStep,
    Tombstone,
    is_masked_later,
    telling_fields,
)
from unified_state.model.item import ALIAS_LETTERS, LedgerItem
from unified_state.upkeep.history.archive_rows import carried, carry

_HIGHEST_ALIAS = 1_000_000  # a larger number was not given by a counter
# The earliest and the latest times of a session are used, and the last value of every other field.
_CHOICE = {"started_at": "min({0}, {1})", "seen_at": "max({0}, {1})", "ended_at": "max({0}, {1})"}
_LEARN = "UPDATE session SET {} WHERE session_id = ?1".format(
    ", ".join(
        f"{name} = " + _CHOICE.get(name, "{0}").format(f"coalesce(?{place}, {name})", f"coalesce({name}, ?{place})")
        for place, name in enumerate(COLUMNS[StoredSession], 1)
        if name != "session_id"
    )
)


def append(archive: Archive, records: Iterable[HistoryRecord]) -> int:
    """Store records, all or none, and return the number of new ones."""
    given = list(records)  # read before the transaction: the source may be slow, or fail
    with archive.transaction():
        return sum(_KEEP[kind](archive, list(run)) for kind, run in groupby(given, type))


def keep_steps(archive: Archive, steps: Sequence[StoredStep]) -> int:
    """Insert steps, within the caller's transaction, and return the number of steps that are new to their sessions."""
    added = 0
    for (session_id, agent), run in groupby(steps, lambda step: (step.session_id, step.agent)):
        session = ensure_session(archive, session_id)
        newest = "SELECT id FROM turn WHERE session = ? AND agent IS ? ORDER BY id DESC LIMIT 1"
        writer = StepWriter(archive, session, archive.value(newest, session, agent))
        for step in run:
            before = writer.added
            added += writer.add(step, pack(step.text))
            if writer.added > before:
                carry(archive, STEP, writer.last, _beside(step))
            elif step.masked_at is not None:
                _put_in_place(archive, step)
    return added


def _put_in_place(archive: Archive, masked: StoredStep) -> None:
    """Replace a stored step by a version that was masked later."""
    known = "SELECT id FROM step WHERE uuid = ? AND block = ? AND kind NOT NULL"
    for (number,) in archive.rows(known, uuid_key(masked.uuid), masked.block):
        step = find_step(archive, number)
        if step is not None and is_masked_later(masked, carried(archive, STEP, number).get("masked_at")):
            replace_text(archive, number, step, masked.text)
            note_rewrite(archive)
            carry(archive, STEP, number, _beside(masked))


def ensure_session(archive: Archive, session_id: str) -> int:
    """Return the number of a session, which is inserted if it has no row."""
    archive.run("INSERT OR IGNORE INTO session (session_id) VALUES (?)", session_id)
    return known_session(archive, session_id)


def keep_session(archive: Archive, session: StoredSession) -> bool:
    """Merge the fields of a record into a session. Return False, because a session never counts as new."""
    number = ensure_session(archive, session.session_id)
    archive.run(_LEARN, *(getattr(session, name) for name in COLUMNS[StoredSession]))
    if told := _beside(session):
        carry(archive, SESSION, number, {**carried(archive, SESSION, number), **told})
    return False


def keep_item(archive: Archive, item: StoredItem) -> bool:
    """Insert an item under an unused alias, or update it, and return whether it is new."""
    if _is_buried(archive, ITEM, item.uuid):
        return False
    known = next((known for known in items_called(archive, item.uuid) if known.uuid == item.uuid), None)
    if known is not None and (item.changed_at or "") <= (known.changed_at or ""):
        return False
    kept = item.replace(alias=_free_alias(archive, item) if known is None else known.alias)
    taken = archive.row("SELECT 1 FROM item WHERE capture_key = ? AND uuid != ?", item.capture_key, item.uuid)
    compaction = archive.row("SELECT id FROM compaction WHERE boundary_uuid = ?", item.boundary_uuid)
    fields: dict[str, Any] = {name: getattr(kept, name) for name in LedgerItem.names}
    fields |= {"capture_key": None if taken else item.capture_key, "compaction": compaction[0] if compaction else None}
    (insert_item if known is None else update_item)(archive, LedgerItem(**fields))
    beside = {"capture_key": item.capture_key} if taken else {}
    carry(archive, ITEM, item.uuid, {**_beside(item), **beside})
    if known is None:
        for former in {*item.aliases, item.alias} - {kept.alias}:
            archive.run("INSERT OR IGNORE INTO item_alias VALUES (?, ?)", former.upper(), item.uuid)
    return known is None


def _beside(record: HistoryRecord) -> dict[str, Any]:
    """Return the fields of a record that the archive has no column for."""
    return {name: value for name, value in telling_fields(record).items() if name not in COLUMNS[type(record)]}


def _free_alias(archive: Archive, item: StoredItem) -> str:
    """Return the item's own alias if no other item has or had it, else the next one."""
    letter, digits = ALIAS_LETTERS[item.kind], item.alias[1:]
    is_counted = digits.isascii() and digits.isdigit() and 0 < int(digits[:20]) <= _HIGHEST_ALIAS
    alias = item.alias if item.alias == f"{letter}{digits}" and is_counted else next_alias(archive, item.kind)
    while archive.row("SELECT 1 FROM item WHERE alias = ?1 UNION SELECT 1 FROM item_alias WHERE alias = ?1", alias):
        alias = next_alias(archive, item.kind)
    raise_counter(archive, letter, int(alias[1:]))
    return alias


def keep_link(archive: Archive, link: StoredLink) -> bool:
    """Insert a link between items, unless one of them was forgotten, and return whether it is new."""
    if _is_buried(archive, ITEM, link.from_uuid) or _is_buried(archive, ITEM, link.to_uuid):
        return False
    return archive.run("INSERT OR IGNORE INTO item_link VALUES (?, ?, ?, ?)", *link.as_dict().values()) > 0


def keep_compaction(archive: Archive, compaction: StoredCompaction) -> bool:
    """Insert a compaction, or the summary of one that has none yet, and return whether it is new."""
    if _is_buried(archive, COMPACTION, compaction.boundary_uuid):
        return False
    known = "SELECT id, summary FROM compaction WHERE boundary_uuid = ?"
    if is_new := (row := archive.row(known, compaction.boundary_uuid)) is None:
        columns = "session, started_at, boundary_at, boundary_uuid, trigger, pre_tokens"
        values = compaction.at, compaction.boundary_uuid, compaction.trigger, compaction.pre_tokens
        insert = f"INSERT INTO compaction ({columns}) VALUES (?1, ?2, ?2, ?3, ?4, ?5)"
        archive.run(insert, ensure_session(archive, compaction.session_id), *values)
        row = archive.row(known, compaction.boundary_uuid)
    number, summary = row
    is_masked = is_masked_later(compaction, carried(archive, COMPACTION, number).get("masked_at"))
    if is_masked or (summary is None and compaction.summary is not None):
        packed = None if compaction.summary is None else pack(compaction.summary)
        archive.run("UPDATE compaction SET summary = ? WHERE id = ?", packed, number)
    if is_masked or is_new:
        carry(archive, COMPACTION, number, _beside(compaction))
    return is_new


def keep_tombstone(archive: Archive, tombstone: Tombstone) -> bool:
    """Insert a tombstone, or its later time, and return whether it is new. `apply_tombstones` forgets what it names."""
    what, key = tombstone.what, tombstone.key
    known = archive.row("SELECT at FROM tombstone WHERE what = ? AND key = ?", what, key)
    if known is None or known[0] < tombstone.at:
        uuid, _, block = key.rpartition("/")
        here = "SELECT 1 FROM step WHERE uuid = ? AND block = ?"
        waits = None if what == STEP and archive.row(here, uuid_key(uuid), block) else 1
        archive.run("INSERT OR REPLACE INTO tombstone VALUES (?, ?, ?, ?)", what, key, tombstone.at, waits)
    return known is None


def _is_buried(archive: Archive, what: str, key: str) -> bool:
    return archive.row("SELECT 1 FROM tombstone WHERE what = ? AND key = ?", what, key) is not None


def _each(keep: Callable[[Archive, Any], bool]) -> Callable[[Archive, list[Any]], int]:
    return lambda archive, records: sum(keep(archive, record) for record in records)


_KEEP: dict[type, Callable[[Archive, list[Any]], int]] = {
    StoredStep: keep_steps,
    StoredSession: _each(keep_session),
    StoredItem: _each(keep_item),
    StoredLink: _each(keep_link),
    StoredCompaction: _each(keep_compaction),
    Tombstone: _each(keep_tombstone),
}
