"""Damaged archives: set aside whole, never overwritten, and what can still be read of the ledger goes into the new one.

Damage is noticed when a query fails. Several processes may notice it at once: under a lock one sets the file aside, the
others find a healthy archive and go on.
"""

from __future__ import annotations

import os

from unified_state.errors import DamagedArchiveError
from unified_state.interpreter import DatabaseError, connect
from unified_state.records.item import ALIAS_LETTERS
from unified_state.storage.archive import Archive
from unified_state.storage.atomic_file import temporary_name
from unified_state.storage.ledger import raise_counter
from unified_state.storage.lock import FileLock
from unified_state.storage.sessions import STAND_IN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from unified_state.interpreter import Connection

_LOCK_SECONDS = 10.0
_PROBLEMS = 10_000  # that are read: more than there are rewinds
# SQLite 3.40 says so of any row: it takes the wrong column where a key without row ids is not the first columns.
_NO_PROBLEM = "NULL value in rewind.after_at"
# What a ledger needs to live on. Steps come back from the transcripts, which are read again from their beginning.
_SALVAGED = ("meta", "counter", "item", "item_alias", "item_link", "note", "saved")
_NUMBERED = ("step", "turn", "compaction", "session")
_ITEM_GAP = 1000
_GAP = 1_000_000  # numbers that are skipped where the last one cannot be read any more: no ref is ever given twice


def set_aside_if_damaged(path: str, refill: Callable[[Archive], None] = lambda _archive: None) -> str | None:
    """Give a damaged archive a name of its own and begin a new one; the new name, or None where it is healthy. `refill`
    adds what is known from elsewhere before anybody else sees the new archive.
    """
    with FileLock(path + ".repair-lock", _LOCK_SECONDS):
        if is_healthy(path):
            return None
        aside, fresh = _free_name(path), temporary_name(path)
        if os.path.lexists(f"{path}-journal"):
            os.rename(f"{path}-journal", f"{aside}-journal")
        _give_second_name(path, aside)
        try:
            with Archive(fresh) as archive:
                _salvage(archive, aside)
                refill(archive)
            os.replace(fresh, path)
        finally:
            for leftover in (fresh, f"{fresh}-journal"):
                if os.path.lexists(leftover):
                    os.unlink(leftover)
        return aside


def _give_second_name(path: str, aside: str) -> None:
    """Keep a file under another name; its own is free at once where the file system has no hard links."""
    try:
        os.link(path, aside)
    except OSError:
        os.rename(path, aside)


def is_healthy(path: str) -> bool:
    """Whether SQLite finds nothing wrong with the file. A missing one is healthy: it will be made."""
    if not os.path.exists(path):
        return True
    try:
        with Archive(path) as archive:
            told = {problem for (problem,) in archive.rows(f"PRAGMA integrity_check({_PROBLEMS})")}
            return told <= {"ok", _NO_PROBLEM}
    except DamagedArchiveError:
        return False


def _free_name(path: str) -> str:
    stem, ending = os.path.splitext(path)
    number = 1
    while os.path.lexists(f"{stem}.damaged-{number}{ending}"):
        number += 1
    return f"{stem}.damaged-{number}{ending}"


def _salvage(archive: Archive, aside: str) -> None:
    """Copy what can be read of the small tables, and go on counting behind the numbers that were given."""
    try:
        damaged = connect(aside, isolation_level=None)
    except DatabaseError:
        damaged = None
    with archive.transaction():
        for table in _SALVAGED:
            rows = _readable_rows(damaged, f"SELECT * FROM {table}")
            for row in rows:
                archive.run(f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(row))})", *row)
        _count_on(archive, damaged)
        last = {table: _last_number(damaged, table) for table in _NUMBERED}
        session = last["session"]
        archive.run("INSERT INTO session (id, session_id) VALUES (?, ?)", session, STAND_IN)
        archive.run("INSERT INTO turn VALUES (?, ?, NULL, 0)", last["turn"], session)
        archive.run(
            "INSERT INTO step (id, turn, uuid, block, at) VALUES (?, ?, ?, 0, 0)",
            last["step"],
            last["turn"],
            STAND_IN,
        )
        archive.run(
            "INSERT INTO compaction (id, session, started_at, boundary_uuid) VALUES (?, ?, 0, ?)",
            last["compaction"],
            session,
            STAND_IN,
        )
    if damaged is not None:
        damaged.close()


def _count_on(archive: Archive, damaged: Connection | None) -> None:
    """Go on giving aliases behind those that were given; with a gap where the counters cannot be read."""
    for letter in ALIAS_LETTERS.values():
        if not _readable_rows(damaged, f"SELECT last FROM counter WHERE letter = '{letter}'"):
            raise_counter(archive, letter, _ITEM_GAP)


def _readable_rows(damaged: Connection | None, sql: str) -> list[Any]:
    """The rows up to the first one that cannot be read."""
    rows: list[Any] = []
    if damaged is None:
        return rows
    try:
        rows.extend(damaged.execute(sql))  # what was read before an error stays in the list
    except DatabaseError:
        return rows
    return rows


def _last_number(damaged: Connection | None, table: str) -> int:
    found = _readable_rows(damaged, f"SELECT max(id) FROM {table}")
    return int(found[0][0] or 1) if found and isinstance(found[0][0], (int, type(None))) else _GAP
