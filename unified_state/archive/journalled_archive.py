"""An archive whose history is a file of JSON lines, a journal: SQLite holds it in memory.

Opening it takes a lock, which keeps others out, and reads the whole file. What changed is in the file when the archive
is closed, or after `flush`: the file is written anew, atomically, so that what was forgotten is in no byte of it. The
full-text index is not in the file: a search makes it. All else is restored exactly, with the numbers that refs name.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import chain
from sqlite3 import Connection, DatabaseError
from types import TracebackType
from typing import Any

from unified_state.archive.archive import ARCHIVE_VERSION, MEMORY, Archive, connect_archive
from unified_state.archive.schema.archive_check import plain_tables, typed_columns
from unified_state.errors import ArchiveBusyError, ArchiveUnavailableError, NewerArchiveError, StorageError
from unified_state.lib.files import PRIVATE, FileLock, write_atomically
from unified_state.lib.json_text import dump_json, parse_object
from unified_state.lib.package import upgrade_line
from unified_state.lib.read_files import open_regular
from unified_state.lib.text import UNREADABLE, pack, unpack

Line = dict[str, Any]

_HEADER, _TABLES = "journal", "archive"  # in the first line: the format, and the version of the tables
_TEXT, _BYTES = "text", "bytes"
_NOT_KEPT = ("unindexed", "migration")
_SURROGATES = "surrogatepass"
_LONGEST_LINE = 1 << 28  # bytes


class JournalledArchive(Archive):
    """The archive of the journal at a path. It can be read even where nothing can be written.

    `damaged` is the number of lines that cannot be read.
    """

    has_journal = True

    def __init__(self, path: str, *, seconds: float = 5.0, mask: Callable[[str], str] = str) -> None:
        self.damaged = 0
        self._journal, self._problem = path, ""
        busy = ArchiveBusyError(f"the journal {path} is locked by another process", "try again")
        self._lock = FileLock(f"{path}.lock", seconds, busy)
        try:
            self._lock.__enter__()
        except ArchiveBusyError:
            raise
        except StorageError as error:
            self._problem = error.message
        try:
            super().__init__(MEMORY, seconds=seconds, mask=mask)
        except BaseException:
            self._lock.__exit__()
            raise
        self.folder, self.file = os.path.dirname(path), path
        self._written = self.connection.total_changes  # those that are in the file

    def _open(self, _seconds: float) -> Connection:
        self.connection = connect_archive(MEMORY, 0)
        try:
            self._read()
        except BaseException:
            self.connection.close()
            raise
        return self.connection

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.flush()
        finally:
            self._lock.__exit__()
            super().__exit__(kind, error, trace)

    def flush(self) -> None:
        """Write what changed into the file."""
        if self.connection.total_changes != self._written:
            if not (self._is_new or os.path.exists(self._journal)):
                self._problem = "it was removed meanwhile"
            if self._problem:
                raise self._unusable(self._problem)
            self._write()

    def _lines(self) -> Iterator[Line | None]:
        """Yield the lines of the file, None for a damaged one."""
        try:
            with open_regular(self._journal) as file:
                for line in iter(lambda: file.readline(_LONGEST_LINE), b""):
                    if line.strip():
                        yield parse_object(line, _SURROGATES)
        except FileNotFoundError:
            return
        except OSError as error:
            raise self._unusable(error.strerror or str(error)) from error

    def _read(self) -> None:
        """Read the content of the file into the tables in memory. Raises NewerArchiveError."""
        lines = self._lines()
        header = next(lines, {})
        self._is_new = header == {}
        if self._is_new:
            return
        if header is None or _HEADER not in header:  # it is damaged, and the other lines count
            lines = chain((header,), lines)
        elif header[_HEADER] != 1 or header.get(_TABLES, 0) not in range(ARCHIVE_VERSION + 1):
            message = f"the journal {self._journal} was written by a newer version"
            raise NewerArchiveError(message, f"upgrade unified-state: {upgrade_line()}")
        tables = self._kept_columns()
        with self.transaction():
            triggers = self.rows("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
            for name, _ in triggers:
                self.run(f"DROP TRIGGER {name}")
            for name in tables:
                self.connection.execute(f"DELETE FROM {name}")
            self.damaged = sum(not self._put(line or {}, tables) for line in lines)
            for _, sql in triggers:
                self.run(sql)
            self.connection.execute("INSERT OR IGNORE INTO unindexed SELECT id FROM step WHERE kind NOT NULL")

    def _put(self, line: Line, tables: dict[str, list[str]]) -> bool:
        """Insert the row of a line, and return whether that was possible."""
        try:
            ((name, row),) = line.items()
            columns = [column for column in tables[name] if column in row]
            sql = f"INSERT OR REPLACE INTO {name} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
            self.connection.execute(sql, [_stored(row[column]) for column in columns])
        except (DatabaseError, ValueError, KeyError, TypeError):
            return False
        return True

    def _kept_columns(self) -> dict[str, list[str]]:
        """Return the tables that a journal holds, each with its columns."""
        names = (name for name in plain_tables(self.connection) if name not in _NOT_KEPT)
        return {name: [column for column, _ in typed_columns(self.connection, name)] for name in names}

    def _write(self) -> None:
        header = {_HEADER: 1, _TABLES: ARCHIVE_VERSION}
        try:
            write_atomically(self._journal, map(_bytes, chain((header,), self._rows())), PRIVATE)
        except StorageError as error:
            raise self._unusable(error.message) from error
        self._written, self._is_new, self.damaged = self.connection.total_changes, False, 0

    def _rows(self) -> Iterator[Line]:
        for name, columns in self._kept_columns().items():
            for row in self.connection.execute(f"SELECT {', '.join(columns)} FROM {name}"):
                told = zip(columns, map(_told, row), strict=True)
                yield {name: {column: value for column, value in told if value is not None}}

    def _unusable(self, problem: str) -> ArchiveUnavailableError:
        message = f"the journal {self._journal} cannot be used: {problem}"
        return ArchiveUnavailableError(message, "free some space or check the permissions")


def _bytes(line: Line) -> bytes:
    return (dump_json(line) + "\n").encode("utf-8", _SURROGATES)


def _told(value: Any) -> Any:
    if not isinstance(value, bytes):
        return value
    text = unpack(value)
    return {_BYTES: value.hex()} if text == UNREADABLE else {_TEXT: text}


def _stored(told: Any) -> Any:
    if not isinstance(told, dict):
        return told
    return pack(told[_TEXT]) if _TEXT in told else bytes.fromhex(told[_BYTES])
