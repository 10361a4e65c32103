"""Damaged archives: a damaged archive is set aside whole, never overwritten. The new one starts with the readable rows
of the damaged one and the items of the state file.

Damage is noticed when a query fails. Several processes may notice it at once. One of them sets the file aside under a
lock, and the others find a healthy archive and continue. The new archive replaces the damaged one only when it is
complete, so no session sees an empty one, and a process that is killed earlier changes nothing.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection, DatabaseError, connect
from typing import Any

from unified_state.archive.archive import Archive, storage_error
from unified_state.archive.schema.archive_check import (
    UNREADABLE_ERRORS,
    fits,
    plain_tables,
    problem_in,
    typed_columns,
    unknown_word,
    without_broken_json,
)
from unified_state.archive.steps import empty_index, index_left
from unified_state.errors import ArchiveUnavailableError, DamagedArchiveError, StorageError, UnifiedStateError
from unified_state.hosts.generation import end_generation
from unified_state.ledger.item_table import PROPOSED
from unified_state.lib.files import FileLock, set_aside, sync_folder, temporary_name
from unified_state.lib.times import current_time
from unified_state.model.constraint import INFERRED
from unified_state.model.item import ALIAS_LETTERS
from unified_state.project.health import ARCHIVE, HookRun, note_run
from unified_state.project.place import Place
from unified_state.secrets.masker import Masker
from unified_state.state_file.adopt import adopt_file

Report = Callable[[str], None]

_LOCK_SECONDS = 10.0
_BESIDE = ("-journal", "-wal", "-shm")  # SQLite would read a stray one into the new archive
_STEPS = 10_000  # SQLite VM instructions between two checks of the clock
_NUMBERED = ("session", "turn", "step", "compaction")
_ITEM_GAP = 1000
_GAP = 1_000_000  # numbers skipped where the last one is unreadable, so that no ref is given twice
# Triggers refill the first, the outbox is sent again from the start, and vectors are computed again.
_NOT_COPIED = ("enforcement", "outbox", "outbox_server", "vector", "vector_model")
_FARTHEST = 1 << 62


def begin_anew(
    place: Place, masker: Masker, error: DamagedArchiveError, report: Report, salvage_seconds: float | None = None
) -> None:
    """Replace a damaged archive by a new one, unless another process just did, and copy its readable rows for at most
    `salvage_seconds`. Raises ArchiveUnavailableError where the damaged archive cannot be set aside.
    """
    try:
        aside = set_aside_if_damaged(
            place.archive_path, lambda archive: refill(archive, place, masker, report), salvage_seconds
        )
    except (OSError, StorageError) as reason:
        message = f"{error.message}, and it cannot be set aside: {getattr(reason, 'message', reason)}"
        raise ArchiveUnavailableError(message, "make its folder writable") from reason
    if aside is not None:
        told = f"{error.message}; it was set aside as {aside}; `unified-state import` reads the transcripts again"
        report(told)
        try:
            note_run(place.folder, HookRun(ARCHIVE, current_time(), 0, told))
        except OSError as reason:
            report(f"the damage is not noted for the next sessions: {reason}")


def refill(archive: Archive, place: Place, masker: Masker, report: Report, *, only_ours: bool = False) -> None:
    """Insert the items of the state file into a new archive."""
    try:
        adopt_file(archive, place, masker, current_time(), only_ours=only_ours)
    except UnifiedStateError as error:
        report(f"the items of the state file are not in the new archive: {error}")


def set_aside_if_damaged(
    path: str, refill: Callable[[Archive], None] = lambda _archive: None, seconds: float | None = None
) -> str | None:
    """Rename a damaged archive, put a new one with its readable rows in its place, and return the new name; None where
    the archive is healthy. `refill` adds more rows before another process sees the new archive. Raises
    ArchiveUnavailableError where that takes longer than `seconds`.
    """
    until = None if seconds is None else time.monotonic() + seconds
    with FileLock(path + ".repair-lock", _LOCK_SECONDS if seconds is None else min(seconds, _LOCK_SECONDS)):
        try:
            return _set_aside(path, refill, until) if _is_damaged(path, seconds) else None
        except DatabaseError as error:
            raise storage_error(error, path) from error


def _is_damaged(path: str, seconds: float | None) -> bool:
    try:
        return problem_in(path, seconds) is not None
    except TimeoutError:
        return True  # the caller has found damage


def _set_aside(path: str, refill: Callable[[Archive], None], until: float | None) -> str:
    temporary = temporary_name(path)
    try:
        with closing(_hold(path)), closing(_readable(path)) as damaged:
            with Archive(temporary) as archive:
                if until is not None:
                    archive.connection.set_progress_handler(lambda: int(time.monotonic() > until), _STEPS)
                _salvage(archive, damaged)
                refill(archive)
            return _swap(path, temporary)
    finally:
        for ending in ("", *_BESIDE):
            Path(temporary + ending).unlink(missing_ok=True)


def _hold(path: str) -> Connection:
    """Lock the damaged archive against writers. Where the damage prevents the lock, it prevents writing too."""
    connection = connect(path, timeout=5.0, isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
    except UNREADABLE_ERRORS as error:
        if getattr(error, "sqlite_errorname", "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            connection.close()
            raise
    return connection


def _swap(path: str, temporary: str) -> str:
    """Rename the damaged file and move the new one to its path, so that the path exists at any moment."""
    aside = set_aside(path)
    for ending in _BESIDE:
        if os.path.lexists(path + ending):
            os.rename(path + ending, aside + ending)
    end_generation(os.path.dirname(path))
    os.replace(temporary, path)
    sync_folder(os.path.dirname(path))
    return aside


def _salvage(archive: Archive, damaged: Connection) -> None:
    """Copy the readable rows into a new archive, and continue its numbers after the last ones."""
    with archive.transaction():
        is_whole = True
        for table in plain_tables(archive.connection):
            if table not in _NOT_COPIED:
                archive.run(f"DELETE FROM {table}")  # rows of triggers that ran while items were copied
                is_whole &= _copy(archive, damaged, table)
        if not is_whole:  # read positions of transcripts are wrong where a captured step is missing
            archive.run("DELETE FROM transcript")
        for name, word in (("status", PROPOSED), ("origin", INFERRED)):  # until the user has reviewed it
            archive.run(f"UPDATE item SET {name} = ? WHERE {unknown_word(name)}", word)
        _count_on(archive, damaged)
        _adopt_orphans(archive)
        archive.run("DELETE FROM unindexed")
        archive.run("INSERT INTO unindexed SELECT id FROM step WHERE kind NOT NULL")
        empty_index(archive)
        index_left(archive)


def _readable(path: str) -> Connection:
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


def _count_on(archive: Archive, damaged: Connection) -> None:
    """Continue all numbers after the last given ones, with a gap where a counter is unreadable."""
    for letter in ALIAS_LETTERS.values():
        archive.run("INSERT OR IGNORE INTO counter VALUES (?, ?)", letter, _ITEM_GAP)
    for table in _NUMBERED:
        try:
            (last,) = damaged.execute("SELECT total(seq) FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
        except UNREADABLE_ERRORS:
            last = _GAP
        archive.run("DELETE FROM sqlite_sequence WHERE name = ?", table)
        archive.run("INSERT INTO sqlite_sequence VALUES (?, ?)", table, min(int(last), _FARTHEST))


def _adopt_orphans(archive: Archive) -> None:
    """Create the missing turns of steps and the missing sessions of turns, so that all steps can be found."""
    archive.run(
        "INSERT INTO turn (id, session, at) SELECT turn, 0, min(at) FROM step WHERE turn NOT IN (SELECT id FROM turn) "
        "GROUP BY turn"
    )
    archive.run(
        "INSERT INTO session (id, session_id) SELECT DISTINCT session, 'salvaged-' || session FROM turn "
        "WHERE session NOT IN (SELECT id FROM session)"
    )
