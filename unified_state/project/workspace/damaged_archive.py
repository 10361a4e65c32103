"""Damaged archives: a damaged archive is set aside whole, never overwritten. The new one starts with the readable rows
of the damaged one and the items of the state file.

Damage is noticed when a query fails. Several processes may notice it at once. One of them sets the file aside under a
lock, and the others find a healthy archive and continue. The new archive replaces the damaged one only when it is
complete, so no session sees an empty one, and a process that is killed earlier changes nothing.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import closing
from sqlite3 import Connection, DatabaseError, connect

from unified_state.archive.archive import Archive, storage_error
from unified_state.archive.schema.archive_check import UNREADABLE_ERRORS, problem_in
from unified_state.errors import ArchiveUnavailableError, DamagedArchiveError, StorageError, UnifiedStateError
from unified_state.hosts.gate.generation import end_generation
from unified_state.lib.files import FileLock, set_aside, sync_folder, temporary_name
from unified_state.lib.times import current_time
from unified_state.project.health import ARCHIVE, HookRun, note_run
from unified_state.project.place import Place
from unified_state.project.workspace.salvage import readable, salvage
from unified_state.secrets.masker import Masker
from unified_state.state_file.adopt import adopt_file

Report = Callable[[str], None]

_LOCK_SECONDS = 10.0
_BESIDE = ("-journal", "-wal", "-shm")  # SQLite would read a stray one into the new archive
_STEPS = 10_000  # SQLite VM instructions between two checks of the clock


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
        with closing(_hold(path)), closing(readable(path)) as damaged:
            _fill(temporary, damaged, refill, until)
            return _swap(path, temporary)
    finally:
        _remove(temporary)


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


def _fill(temporary: str, damaged: Connection, refill: Callable[[Archive], None], until: float | None) -> None:
    """Make a new archive under a temporary name, with the readable rows of the damaged one."""
    with Archive(temporary) as archive:
        if until is not None:
            archive.connection.set_progress_handler(lambda: int(time.monotonic() > until), _STEPS)
        salvage(archive, damaged)
        refill(archive)


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


def _remove(path: str) -> None:
    for ending in ("", *_BESIDE):
        if os.path.lexists(path + ending):
            os.unlink(path + ending)
