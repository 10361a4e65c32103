"""The archive of one repository: an SQLite file with every step, every state item, every compaction.

It uses SQLite's rollback journal, never a write-ahead log: before SQLite 3.51.3 two connections that checkpoint a WAL
at once can corrupt it (https://sqlite.org/wal.html#walresetbug). Writers begin with BEGIN IMMEDIATE and wait.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from sqlite3 import Connection, DatabaseError, connect
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from unified_state.errors import (
    ArchiveBusyError,
    ArchiveUnavailableError,
    DamagedArchiveError,
    StorageError,
    UnifiedStateError,
)
from unified_state.hosts.generation import end_generation, ends_generation
from unified_state.lib.files import PRIVATE, publish_once, remove_file, temporary_name
from unified_state.lib.read_files import not_ours
from unified_state.lib.text import escape_surrogates

ARCHIVE_VERSION = 12  # see `archive_schema.newest_version`
MEMORY = ":memory:"  # the path of an archive that ends with its process
OWNER = "repository"  # name of the value that identifies the archive's repository
BODY_SIZE = "length(CAST(step.body AS BLOB))"  # the bytes that the text of a row of `step` takes

if TYPE_CHECKING:
    from sqlite3 import Cursor

_EMPTY = 1  # byte at most: SQLite treats a file of one byte as a new one
_CORRUPT, _NOT_A_DATABASE = 11, 26
_LARGEST_INTEGER = (1 << 63) - 1
_BUSY, _LOCKED, _READONLY, _INTERRUPTED, _IO_ERROR, _FULL, _CANNOT_OPEN = 5, 6, 8, 9, 10, 13, 14
_PASSING = frozenset((_BUSY, _LOCKED, _INTERRUPTED, _IO_ERROR, _FULL, _CANNOT_OPEN))  # no sign of damage
_MOVED = _READONLY | 4 << 8  # another process has just set it aside
_LOOK_SECONDS = 2.0  # for a check whether damage caused an unexpected error


class Archive:
    """An open archive: `with Archive(path) as archive: …`. The block converts errors of SQLite to those of this
    package.

    `mask` is applied to short texts that are written unchanged: a branch, a title, the name of a tool.
    """

    has_journal = False  # True where a journal of JSON lines holds the history

    def __init__(self, path: str, *, seconds: float = 5.0, mask: Callable[[str], str] = str) -> None:
        self.path = self.file = path  # of the database, and of the file that holds the history
        self.folder = os.path.dirname(path)  # folder of the archive's other files
        self.masked = partial(_masked, mask)
        self.connection = self._open(seconds)

    def _open(self, seconds: float) -> Connection:
        try:
            if self.path != MEMORY:
                _ensure_file(self.path)
            return connect_archive(self.path, seconds)
        except UnifiedStateError:
            raise
        except (DatabaseError, OSError, ValueError) as error:  # ValueError: SQLite's message quotes damaged bytes
            raise explained(error, self.path) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _type: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.connection.close()
        if isinstance(error, Exception) and not isinstance(error, (UnifiedStateError, OSError)):
            known = explained(error, self.path)
            if known is not error:
                raise known from error

    @contextmanager
    def transaction(self, *, durable: bool = True) -> Iterator[None]:
        """Commit everything done in the block, or nothing.

        A durable transaction survives a loss of power. Steps do not wait for that: the transcript has them.
        """
        self.connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self.connection.in_transaction:  # some errors have already rolled back
                self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Cursor:
        """Run one statement. Values that SQLite refuses are adapted: lone surrogates are escaped, large numbers
        clamped. One that writes what a hook may add to a prompt ends the generation before it can be committed.
        """
        if ends_generation(sql):
            if not self.connection.in_transaction:
                with self.transaction():
                    return self.execute(sql, values)
            self._end_generation()
        try:
            return self.connection.execute(sql, values)
        except (UnicodeEncodeError, OverflowError):
            return self.connection.execute(sql, [_holdable(value) for value in values])

    def _end_generation(self) -> None:
        try:
            end_generation(self.folder)
        except OSError as error:
            raise storage_error(error, self.path) from error

    def rows(self, sql: str, *values: Any) -> list[Any]:
        """Return all rows of a query."""
        return self.execute(sql, values).fetchall()

    def row(self, sql: str, *values: Any) -> Any:
        """Return the first row of a query, or None."""
        return self.execute(sql, values).fetchone()

    def column(self, sql: str, *values: Any) -> list[Any]:
        """Return the first column of all rows of a query."""
        return [row[0] for row in self.execute(sql, values)]

    def value(self, sql: str, *values: Any) -> Any | None:
        """Return the first column of the first row of a query; None where there is no row."""
        row = self.execute(sql, values).fetchone()
        return None if row is None else row[0]

    def run(self, sql: str, *values: Any) -> int:
        """Run one statement and return the number of rows it changed.

        SQLite is asked for the number, because `rowcount` is -1 for every INSERT in a Turkish locale: Python compares
        "insert" in the lower case of that locale.
        """
        self.execute(sql, values)
        return int(self.row("SELECT changes()")[0])

    def insert(self, table: str, *, how: str = "", **values: Any) -> int:
        """Insert a row, given by its columns, and return its number."""
        names, places = ", ".join(values), ", ".join("?" * len(values))
        self.execute(f"INSERT {how} INTO {table} ({names}) VALUES ({places})", tuple(values.values()))
        return int(self.value("SELECT last_insert_rowid()") or 0)

    def flush(self) -> None:
        """Make sure that what was committed is in the file, before something else that has it is removed."""

    def size(self) -> int:
        """Return the size of the history in bytes."""
        self.flush()
        return os.path.getsize(self.file) if os.path.exists(self.file) else 0

    def meta(self, name: str) -> str | None:
        """Return a named value of the archive itself, or None."""
        value: str | None = self.value("SELECT value FROM meta WHERE name = ?", name)
        return value

    def set_meta(self, name: str, value: str) -> None:
        """Set a named value of the archive itself."""
        self.insert("meta", how="OR REPLACE", name=name, value=value)


def _masked(mask: Callable[[str], str], value: Any) -> Any:
    """Return a text, or a JSON value, with the secrets in its texts masked."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, dict):
        return {mask(key): _masked(mask, entry) for key, entry in value.items()}
    return [_masked(mask, entry) for entry in value] if isinstance(value, (list, tuple)) else value


def check_owner(archive: Archive, repository: str) -> None:
    """Raise ArchiveUnavailableError if the archive belongs to another repository: the file at our path may be one.

    The user may have put it there, so they are asked, and nothing is written into it. An archive without an owner is
    assigned to this repository.
    """
    owner = archive.meta(OWNER)
    if owner is None:
        with suppress(DatabaseError):  # where nothing can be written, the next write reports the error
            archive.set_meta(OWNER, repository)
    elif owner != repository:
        message = (
            f"the archive is another repository's ({owner}): "
            f"`unified-state config link {repository}` accepts it as this one's; it lies in {archive.path}"
        )
        raise ArchiveUnavailableError(message, "if it is there by mistake, move it away; nothing is written into it")


def read_enforcement(archive: Archive) -> tuple[int, str | None]:
    """Return the number of changes of constraints, and the stamp of the table compiled since then, or None."""
    return archive.row("SELECT changed, stamp FROM enforcement") or (0, None)


def _holdable(value: Any) -> Any:
    if isinstance(value, str):
        return escape_surrogates(value)
    if isinstance(value, int):
        return max(-_LARGEST_INTEGER - 1, min(value, _LARGEST_INTEGER))
    return value


def storage_error(error: Exception, path: str) -> UnifiedStateError:
    """Return this package's error for an error of SQLite or of the file system."""
    primary = _primary_code(error)
    if primary in {_CORRUPT, _NOT_A_DATABASE} or getattr(error, "sqlite_errorcode", None) == _MOVED:
        return damaged(path, str(error))
    if primary in (_BUSY, _LOCKED):
        message = f"the archive {path} cannot be used: {error}"
        return ArchiveBusyError(message, "another process writes for long, or the file system has no locks; try again")
    hints = {
        _READONLY: "make the file and its folder writable",
        _FULL: "free some space on the disk",
        _CANNOT_OPEN: "check that its folder exists and is yours",
        _IO_ERROR: "check the disk",
    }
    message = f"the archive {path} cannot be used: {getattr(error, 'strerror', None) or error}"
    return ArchiveUnavailableError(message, hints.get(primary or 0, "check the folder's permissions"))


def explained(error: Exception, path: str) -> Exception:
    """Return this package's error for one that ended the use of an archive; the error itself if it is an unrelated bug.

    SQLite reports little damage itself, and code that reads a damaged value fails in other ways. So an unexpected error
    starts a check of the archive.
    """
    known = storage_error(error, path) if isinstance(error, (DatabaseError, OSError)) else error
    if isinstance(known, DamagedArchiveError) or isinstance(error, OSError) or _primary_code(error) in _PASSING:
        return known
    from unified_state.archive.schema.archive_check import problem_in  # rarely needed, and loads all tables

    try:
        problem = problem_in(path, _LOOK_SECONDS)
    except (TimeoutError, DatabaseError):
        return known
    return known if problem is None else damaged(path, problem)


def damaged(path: str, problem: str) -> DamagedArchiveError:
    """Return the error for a damaged archive."""
    return DamagedArchiveError(f"the archive {path} is damaged: {problem}", "it is set aside and begun anew")


def _primary_code(error: Exception) -> int | None:
    code = getattr(error, "sqlite_errorcode", None)
    return code & 0xFF if isinstance(code, int) else None


def connect_archive(path: str, seconds: float) -> Connection:
    """Return a connection to the database at a path, migrated to the current version."""
    connection = connect(path, timeout=seconds, isolation_level=None)
    try:
        if connection.execute("PRAGMA user_version").fetchone()[0] != ARCHIVE_VERSION:
            from unified_state.archive.schema.archive_schema import migrate  # all tables: not for every hook

            migrate(connection, path)
        connection.execute("PRAGMA journal_mode = TRUNCATE")  # it may write: not to a newer version's archive
        connection.execute("PRAGMA secure_delete = ON")  # what is deleted is overwritten; the default differs
    except BaseException:
        connection.close()
        raise
    return connection


def _ensure_file(path: str) -> None:
    """Create a missing archive. It appears with its tables, so an empty file has lost its content. Raises
    DamagedArchiveError.
    """
    try:
        found = os.stat(path)
        if reason := not_ours(found, os.stat(os.path.dirname(path)).st_uid):  # `locate` checks whose the folder is
            message = f"{path} is not used: {reason}"
            raise ArchiveUnavailableError(message, "make it a file of yours that only you may write")
        if found.st_size > _EMPTY:
            return
        raise damaged(path, "it is empty")
    except FileNotFoundError:
        _create(path)


def _create(path: str) -> None:
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    temporary = temporary_name(path)
    # SQLite creates its journal with the same mode
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR, PRIVATE))
    try:
        connect_archive(temporary, 0).close()
        end_generation(os.path.dirname(path))
        publish_once(temporary, path)
    finally:
        for leftover in (temporary, f"{temporary}-journal"):
            remove_file(leftover)


@contextmanager
def reporting(report: Callable[[str], None], archive: Archive, without: str) -> Iterator[None]:
    """Run what its caller does not depend on. Report it if the archive cannot be written."""
    try:
        yield
    except (DatabaseError, StorageError) as error:
        problem = error if isinstance(error, StorageError) else explained(error, archive.path)
        if isinstance(problem, DamagedArchiveError):
            raise
        report(f"{without}: {problem}")
