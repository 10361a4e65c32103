"""Salvage: the readable rows of a damaged archive are copied into a new one, with the same row numbers.

The damaged file is never modified.
"""

from __future__ import annotations

from collections.abc import Iterator
from sqlite3 import Connection, connect
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.archive.schema.archive_check import (
    UNREADABLE_ERRORS,
    fits,
    plain_tables,
    typed_columns,
    without_broken_json,
)
from unified_state.archive.schema.ledger_check import unknown_word
from unified_state.archive.sessions import STAND_IN
from unified_state.archive.steps import empty_index, index_left
from unified_state.ledger.item_table import PROPOSED, raise_counter
from unified_state.model.constraint import INFERRED
from unified_state.model.item import ALIAS_LETTERS

_NUMBERED = ("session", "turn", "step", "compaction")
_ITEM_GAP = 1000
_GAP = 1_000_000  # numbers skipped where the last one is unreadable, so that no ref is given twice
# Triggers refill the first, the outbox is sent again from the start, and vectors are computed again.
_NOT_COPIED = ("enforcement", "outbox", "outbox_server", "outbox_session", "outbox_vectors", "vector", "vector_model")
_CURSORS = "transcript"  # read positions of the transcripts; wrong where a captured step is missing
_SALVAGED = "salvaged"  # the name of a session that replaces a missing one
_FARTHEST = 1 << 62


def salvage(archive: Archive, damaged: Connection) -> None:
    """Copy the readable rows into a new archive, and continue its numbers after the last ones."""
    with archive.transaction():
        is_whole = True
        for table in plain_tables(archive.connection):
            if table not in (*_NOT_COPIED, _CURSORS):
                archive.run(f"DELETE FROM {table}")  # rows of triggers that ran while items were copied
                is_whole &= _copy(archive, damaged, table)
        if is_whole:
            _copy(archive, damaged, _CURSORS)
        for name, word in (("status", PROPOSED), ("origin", INFERRED)):  # until the user has reviewed it
            archive.run(f"UPDATE item SET {name} = ? WHERE {unknown_word(name)}", word)
        _count_on(archive)
        _stand_in(archive, {table: _last_number(damaged, table) for table in _NUMBERED})
        _adopt_orphans(archive)
        archive.run("DELETE FROM unindexed")
        archive.run("INSERT INTO unindexed SELECT id FROM step WHERE kind NOT NULL AND uuid != ?", STAND_IN)
        empty_index(archive)
        index_left(archive)


def readable(path: str) -> Connection:
    """Return a connection to a damaged archive."""
    connection = connect(path, timeout=5.0, isolation_level=None)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    connection.execute("PRAGMA writable_schema = ON")  # unreadable entries of the schema are skipped without an error
    return connection


def _copy(archive: Archive, damaged: Connection, table: str) -> bool:
    """Copy the rows of a table, and return whether all could be read."""
    columns, is_whole = typed_columns(archive.connection, table), True
    names = ", ".join(name for name, _ in columns)
    insert = f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({', '.join('?' * len(columns))})"
    (made,) = archive.row("SELECT sql FROM sqlite_master WHERE name = ?", table)
    for row in _rows(damaged, table, names, has_numbers=not made.endswith("WITHOUT ROWID")):
        if row is None or not fits(table, columns, row):
            is_whole = False
        else:
            archive.run(insert, *without_broken_json(table, [name for name, _ in columns], row))
    return is_whole


def _rows(damaged: Connection, table: str, names: str, *, has_numbers: bool) -> Iterator[tuple[Any, ...] | None]:
    """Yield the readable rows, and None for each gap. Of a table without row numbers the rows before the first come."""
    if not has_numbers:
        try:
            yield from damaged.execute(f"SELECT {names} FROM {table}")
        except UNREADABLE_ERRORS:
            yield None
        return
    last, step = -1, 1
    while last < _FARTHEST:
        try:
            for number, *row in damaged.execute(
                f"SELECT rowid, {names} FROM {table} WHERE rowid > ? ORDER BY rowid", (last,)
            ):
                if number <= last:  # a page is in the tree twice
                    yield None
                    return
                last, step = number, 1
                yield tuple(row)
        except UNREADABLE_ERRORS:
            yield None
            last, step = last + step, step * 2
        else:
            return


def _count_on(archive: Archive) -> None:
    """Continue the aliases after the last given ones, with a gap if a counter is unreadable."""
    for letter in ALIAS_LETTERS.values():
        if archive.row("SELECT 1 FROM counter WHERE letter = ?", letter) is None:
            raise_counter(archive, letter, _ITEM_GAP)


def _stand_in(archive: Archive, last: dict[str, int]) -> None:
    """Insert an empty row where the row with the last number is missing."""
    standing = "(SELECT id FROM session WHERE session_id = ?)"
    archive.run("DELETE FROM step WHERE uuid = ?", STAND_IN)  # of an earlier damage
    archive.run("DELETE FROM compaction WHERE boundary_uuid = ?", STAND_IN)
    archive.run(f"DELETE FROM turn WHERE session = {standing}", STAND_IN)
    archive.run("DELETE FROM session WHERE session_id = ?", STAND_IN)
    rows = {
        "session": ("session_id", (STAND_IN,)),
        "turn": ("session, at", (last["session"], 0)),
        "step": ("turn, uuid, block, at", (last["turn"], STAND_IN, 0, 0)),
        "compaction": ("session, started_at, boundary_uuid", (last["session"], 0, STAND_IN)),
    }
    for table in _NUMBERED:
        names, values = rows[table]
        if last[table] and archive.row(f"SELECT 1 FROM {table} WHERE id >= ?", last[table]) is None:
            archive.run(
                f"INSERT INTO {table} (id, {names}) VALUES (?, {', '.join('?' * len(values))})", last[table], *values
            )


def _adopt_orphans(archive: Archive) -> None:
    """Create the missing turns of steps and the missing sessions of turns, so that all steps can be found."""
    orphans = "FROM step WHERE turn NOT IN (SELECT id FROM turn)"
    if archive.row(f"SELECT 1 {orphans} LIMIT 1") is not None:
        archive.run("INSERT OR IGNORE INTO session (session_id) VALUES (?)", _SALVAGED)
        (session,) = archive.row("SELECT id FROM session WHERE session_id = ?", _SALVAGED)
        archive.run(f"INSERT INTO turn (id, session, at) SELECT turn, ?, min(at) {orphans} GROUP BY turn", session)
    archive.run(
        "INSERT OR IGNORE INTO session (id, session_id) SELECT DISTINCT session, ? || '-' || session FROM turn "
        "WHERE session NOT IN (SELECT id FROM session)",
        _SALVAGED,
    )


def _last_number(damaged: Connection, table: str) -> int:
    """Return the last row number in use; 0 if there is none."""
    try:
        (found,) = damaged.execute(f"SELECT max(id) FROM {table}").fetchone()
    except UNREADABLE_ERRORS:
        return _GAP
    return found if isinstance(found, int) else 0 if found is None else _GAP
