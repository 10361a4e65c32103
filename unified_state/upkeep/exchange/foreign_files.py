"""Read files of other programs with limits and checks: whole texts, JSON, lines of JSON, SQLite databases.

Every problem of such a file is a ForeignFileError that names it, and the file is never written. A damaged record of a
file that its program only appends to is skipped and counted in the `Tally`, because the rest of such a file is still
good. A database is read from a copy, because SQLite could write to files next to the original, and its program may
still be writing. The journal is copied too, so committed rows count and open transactions do not.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from sqlite3 import Connection, DatabaseError, connect
from tempfile import TemporaryDirectory
from typing import Any

from unified_state.errors import ForeignFileError
from unified_state.lib.foreign_values import clean_text
from unified_state.lib.json_text import parse_json, parse_object
from unified_state.lib.read_files import open_regular, read_regular

HEAD = 1 << 16  # bytes by which a format is recognised
_MOST_BYTES, _LONGEST_LINE = 1 << 28, 64 << 20  # of a file that is read whole, and of a line
_BOM = "\ufeff"
MAGIC = b"SQLite format 3\0"
_ENDINGS = ("", "-wal", "-journal")  # SQLite builds the WAL index (-shm) itself
_LENGTH_LIMIT, _LONGEST_VALUE = 0, 1 << 28  # SQLITE_LIMIT_LENGTH; no program writes a larger value
_COLUMNS = """
SELECT info.name FROM sqlite_master AS schema, pragma_table_info(schema.name) AS info
WHERE schema.type = 'table' AND schema.sql NOT LIKE 'CREATE VIRTUAL%' AND schema.name = ?
"""  # real tables only: a view could run anything


def unreadable(path: str, error: OSError) -> ForeignFileError:
    """Return the error for a file that the system does not let us read."""
    message = f"{path} cannot be read: {error.strerror or error}"
    return ForeignFileError(message, "name a file that you may read, and have room for a copy of a database")


def damaged(path: str, error: object) -> ForeignFileError:
    """Return the error for a file with broken content."""
    message = f"{path} is damaged: {error}"
    return ForeignFileError(message, "it ends in the middle, or was changed; import a backup of it")


class ForeignDatabase:
    """The tables in a copy of a database."""

    def __init__(self, path: str, connection: Connection) -> None:
        self._path, self._connection = path, connection

    def columns(self, table: str) -> set[str]:
        """Return the columns of a table, or an empty set if there is no such table."""
        return {name for (name,) in self._connection.execute(_COLUMNS, (table,))}

    def require(self, table: str, columns: Sequence[str], program: str) -> None:
        """Raise ForeignFileError unless the table exists, is intact, and has these columns."""
        present = self.columns(table)
        missing = [name for name in columns if name not in present]
        if missing:
            message = (
                f"{self._path} is no database of {program} that this version can read: {table} has no {missing[0]}"
            )
            raise ForeignFileError(message, "upgrade unified-state, or report the version of that program")
        (found,) = self._connection.execute(f"PRAGMA quick_check('{table}')").fetchone()
        if found != "ok":
            raise damaged(self._path, clean_text(found)[:200])

    def rows(self, sql: str, *values: Any) -> Iterator[dict[str, Any]]:
        """Yield the rows of a query as dicts by column."""
        cursor = self._connection.execute(sql, values)
        names = [column[0] for column in cursor.description]
        return (dict(zip(names, row, strict=True)) for row in cursor)


@contextmanager
def foreign_database(path: str) -> Iterator[ForeignDatabase]:
    """Open a copy of a database. Raises ForeignFileError if SQLite or the system cannot read it."""
    try:
        with (
            TemporaryDirectory(prefix="unified-state-", ignore_cleanup_errors=True) as folder,
            closing(connect(_copy(os.path.realpath(path), folder), isolation_level=None)) as connection,
        ):
            # A program that splits an emoji in half writes text that is not UTF-8.
            connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
            connection.setlimit(_LENGTH_LIMIT, _LONGEST_VALUE)
            for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "query_only = ON"):
                connection.execute(f"PRAGMA {pragma}")
            yield ForeignDatabase(path, connection)
    except (DatabaseError, UnicodeDecodeError) as error:  # SQLite quotes bytes of a name that its module cannot decode
        raise damaged(path, error) from error
    except OSError as error:
        raise unreadable(path, error) from error


def _copy(path: str, folder: str) -> str:
    """Copy the files of a database in a consistent state, and return the path of the copy."""
    copy = os.path.join(folder, "copy.db")
    before = _marks(path)
    for ending in before:
        with open_regular(path + ending) as source, open(copy + ending, "wb") as target:
            shutil.copyfileobj(source, target)
    if before != _marks(path):
        message = f"{path} changed while it was read"
        raise ForeignFileError(message, "end the program that writes it, and try again")
    return copy


def _marks(path: str) -> dict[str, tuple[int, int]]:
    """Return the time and the size of each file of a database, which change with its content."""
    marks = {}
    for ending in _ENDINGS:
        with suppress(FileNotFoundError):
            found = os.stat(path + ending)
            marks[ending] = (found.st_mtime_ns, found.st_size)
    return marks


class Tally:
    """What was left out of an import: damaged records, with the place of the first, and parts of other projects."""

    def __init__(self) -> None:
        self.skipped, self.first, self.elsewhere = 0, "", 0


class ForeignFile:
    """A file of another program.

    `is_named` says that the user named this very file, so that it belongs to this project whatever it says itself.
    """

    def __init__(self, path: str, tally: Tally, *, worktree: str, is_named: bool) -> None:
        self.path, self.worktree, self.is_named = path, os.path.realpath(worktree), is_named
        self._tally = tally

    @property
    def name(self) -> str:
        """The name of the file, without its folder."""
        return os.path.basename(self.path)

    @property
    def folder(self) -> str:
        """The name of the folder of the file."""
        return os.path.basename(os.path.dirname(os.path.abspath(self.path)))

    def modified(self) -> int:
        """Return the time of the last change in milliseconds since 1970."""
        try:
            return int(os.stat(self.path).st_mtime * 1000)
        except OSError as error:
            raise unreadable(self.path, error) from error

    def text(self) -> str:
        """Return the whole text, with the line ends of Unix. Raises ForeignFileError."""
        try:
            return plain(read_regular(self.path, _MOST_BYTES))
        except OSError as error:
            raise unreadable(self.path, error) from error

    def json(self) -> Any:
        """Return the value of a file of JSON. Raises ForeignFileError."""
        try:
            return parse_json(self.text())
        except (ValueError, RecursionError) as error:
            raise damaged(self.path, error) from error

    def beside(self, name: str) -> Any:
        """Return the value of a JSON file by its path from the same folder, or None if there is no such file of use."""
        try:
            return parse_json(plain(read_regular(os.path.join(os.path.dirname(self.path), name), _MOST_BYTES)))
        except (OSError, ValueError, RecursionError):
            return None

    def objects(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the objects of a file of JSON lines with their line numbers. Other lines are skipped and counted."""
        try:
            with open_regular(self.path) as file:
                number = 0
                while line := file.readline(_LONGEST_LINE):
                    number += 1
                    is_whole = line.endswith(b"\n") or len(line) < _LONGEST_LINE
                    while not is_whole:
                        more = file.readline(1 << 20)
                        is_whole, line = not more or more.endswith(b"\n"), b"-"
                    found = parse_object(line.decode("utf-8", "replace").removeprefix(_BOM))
                    if found is not None:
                        yield number, found
                    elif line.strip():
                        self.skip(f"line {number}")
        except OSError as error:
            raise unreadable(self.path, error) from error

    def skip(self, place: str) -> None:
        """Count a damaged record, at a place in this file."""
        self._tally.skipped += 1
        self._tally.first = self._tally.first or f"{self.path}, {place}"

    def is_elsewhere(self, folder: str) -> bool:
        """Return whether a part of this file is of another project, which works in that folder, and count it."""
        if self.is_named or not folder or is_inside(folder, self.worktree):
            return False
        self._tally.elsewhere += 1
        return True


def plain(raw: bytes) -> str:
    """Return bytes as text with the line ends of Unix, whatever they are."""
    return raw.decode("utf-8", "replace").removeprefix(_BOM).replace("\r\n", "\n")


def is_inside(folder: str, worktree: str) -> bool:
    """Return whether a folder is the worktree or lies in it."""
    try:
        found = os.path.realpath(folder)
    except (OSError, ValueError):  # a name that no folder can have
        return False
    return found == worktree or found.startswith(worktree.rstrip(os.sep) + os.sep)
