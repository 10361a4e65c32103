"""An archive whose history is a file of JSON lines, a journal: SQLite holds it in memory.

Opening it reads the whole file. What changed is in the file when the archive is closed, or after `flush`: the file is
written anew, atomically, so that what was forgotten is in no byte of it. From the first change until then a lock keeps
other writers out. The full-text index is not in the file: a search makes it. All else is restored exactly, with the
numbers that refs name.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from sqlite3 import Connection, Cursor, DatabaseError
from types import TracebackType
from typing import Any

from unified_state.archive.archive import ARCHIVE_VERSION, MEMORY, Archive, connect_archive
from unified_state.archive.schema.archive_check import plain_tables, typed_columns
from unified_state.archive.steps import empty_index
from unified_state.errors import ArchiveBusyError, ArchiveUnavailableError, NewerArchiveError, StorageError
from unified_state.hosts.gate.generation import written_table
from unified_state.lib.files import PRIVATE, FileLock, write_atomically
from unified_state.lib.json_text import dump_json, parse_object
from unified_state.lib.package import upgrade_line
from unified_state.lib.read_files import open_regular
from unified_state.lib.text import UNREADABLE, pack, unpack

Line = dict[str, Any]

_HEADER, _TABLES, _ID = (
    "journal",
    "archive",
    "id",
)  # in the first line: the format, the version of the tables, a random id
_TEXT, _BYTES = "text", "bytes"
_WRITES = ("INSERT", "UPDATE", "DELETE", "REPLACE", "VACUUM")
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
        busy = ArchiveBusyError(f"the journal {path} is locked by another process", "try again")
        self._lock = FileLock(f"{path}.lock", seconds, busy)
        self._is_locked = False
        self._journal = path
        self._seen: str | None = None  # the id of the file that memory holds
        self._written = 0  # changes of the connection that are in the file
        super().__init__(MEMORY, seconds=seconds, mask=mask)
        self.folder, self.file = os.path.dirname(path), path

    def _open(self, _seconds: float) -> Connection:
        header = self._header()
        self.connection = connect_archive(MEMORY, 0)
        try:
            self._read(header)
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
            super().__exit__(kind, error, trace)

    @contextmanager
    def transaction(self, *, durable: bool = True) -> Iterator[None]:
        """Commit everything done in the block, after what others have written, or nothing. `flush` writes it."""
        self._begin()
        with super().transaction(durable=durable):
            yield

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Cursor:
        """Run one statement, after what others have written if it writes."""
        if not self.connection.in_transaction and written_table(sql)[0] in _WRITES:
            self._begin()
        return super().execute(sql, values)

    def flush(self) -> None:
        """Write what changed into the file, and let other writers in."""
        if self._is_locked:
            try:
                if self.connection.total_changes != self._written or self._seen is None:
                    self._write()
            finally:
                self._is_locked = False
                self._lock.__exit__(None, None, None)

    def _begin(self) -> None:
        """Take the lock, and read what others have written since."""
        if self._is_locked:
            return
        try:
            self._lock.__enter__()
        except ArchiveUnavailableError:
            raise
        except StorageError as error:
            raise ArchiveUnavailableError(error.message, error.hint) from error
        self._is_locked = True
        header = self._header()
        if self._seen is not None and not header:
            message = f"the journal {self._journal} was removed meanwhile"
            raise ArchiveUnavailableError(message, "try again")
        if header and header.get(_ID, "") != self._seen:
            self._read(header)

    def _header(self) -> Line:
        """Return the header of the file, without an id where it is damaged; {} without a file. Raises
        NewerArchiveError.
        """
        header = next(self._lines(), {})
        if header is None or (header and _HEADER not in header):
            header = {_HEADER: 1}  # the other lines count
        version = header.get(_TABLES, ARCHIVE_VERSION)
        if header.get(_HEADER, 1) != 1 or not isinstance(version, int) or version > ARCHIVE_VERSION:
            message = f"the journal {self._journal} was written by a newer version"
            raise NewerArchiveError(message, f"upgrade unified-state: {upgrade_line()}")
        return header

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
            raise self._unusable(error) from error

    def _read(self, header: Line) -> None:
        """Replace what memory holds by the content of the file."""
        if not header:
            return
        tables, self.damaged = self._kept_columns(), 0
        with super().transaction():
            triggers = self.rows("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
            for name, _ in triggers:
                self.run(f"DROP TRIGGER {name}")
            for name in tables:
                self.connection.execute(f"DELETE FROM {name}")
            for line in self._lines():
                if line is None or _HEADER not in line:
                    self.damaged += not self._put(line or {}, tables)
            for _, sql in triggers:
                self.run(sql)
            empty_index(self)
            self.connection.execute("INSERT OR IGNORE INTO unindexed SELECT id FROM step WHERE kind NOT NULL")
        self._seen, self._written = header.get(_ID, ""), self.connection.total_changes

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
        name = os.urandom(8).hex()
        header = {_HEADER: 1, _TABLES: ARCHIVE_VERSION, _ID: name}
        try:
            write_atomically(self._journal, map(_bytes, chain((header,), self._rows())), PRIVATE)
        except StorageError as error:
            raise (self._unusable(error.__cause__) if isinstance(error.__cause__, OSError) else error) from error
        self._seen, self._written, self.damaged = name, self.connection.total_changes, 0

    def _rows(self) -> Iterator[Line]:
        for name, columns in self._kept_columns().items():
            for row in self.connection.execute(f"SELECT {', '.join(columns)} FROM {name}"):
                yield {
                    name: {
                        column: _told(value) for column, value in zip(columns, row, strict=True) if value is not None
                    }
                }

    def _unusable(self, error: OSError) -> ArchiveUnavailableError:
        message = f"the journal {self._journal} cannot be used: {error.strerror or error}"
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
