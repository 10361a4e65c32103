"""Read files of other programs piece by piece, with checks: SQLite databases and JSON lists.

Every problem of such a file is a ForeignFileError, and the file is never written. A database is read from a copy,
because SQLite could write to files next to the original, and its program may still be writing. The journal is copied
too, so committed rows count and open transactions do not.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from io import TextIOWrapper
from json import JSONDecodeError, JSONDecoder
from sqlite3 import Connection, DatabaseError, connect
from tempfile import TemporaryDirectory
from typing import Any, TextIO

from unified_state.errors import ForeignFileError
from unified_state.lib.foreign_values import clean_text
from unified_state.lib.read_files import open_regular

MAGIC = b"SQLite format 3\0"
_ENDINGS = ("", "-wal", "-journal")  # SQLite builds the WAL index (-shm) itself
_TRIES = 5
_LENGTH_LIMIT, _LONGEST_VALUE = 0, 1 << 28  # SQLITE_LIMIT_LENGTH; no program writes a larger value
_COLUMNS = """
SELECT info.name FROM sqlite_master AS schema, pragma_table_info(schema.name) AS info
WHERE schema.type = 'table' AND schema.sql NOT LIKE 'CREATE VIRTUAL%' AND schema.name = ?
"""  # real tables only: a view could run anything
_AT_ONCE = 1 << 20  # characters of a JSON list
_LONGEST_ENTRY = 1 << 28  # characters; a longer one is damaged, or an attack on the memory


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
    for _ in range(_TRIES):
        before = _marks(path)
        for ending in before:
            with open_regular(path + ending) as source, open(copy + ending, "wb") as target:
                shutil.copyfileobj(source, target)
        if before == _marks(path):
            return copy
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
    message = f"{path} changes all the time"
    raise ForeignFileError(message, "end the program that writes it, and try again")


def _marks(path: str) -> dict[str, tuple[int, int]]:
    """Return the time and the size of each file of a database, which change with its content."""
    marks = {}
    for ending in _ENDINGS:
        with suppress(FileNotFoundError):
            found = os.stat(path + ending)
            marks[ending] = (found.st_mtime_ns, found.st_size)
    return marks


def json_objects(path: str) -> Iterator[dict[str, Any]]:
    """Yield the objects in a file with one JSON list. Raises ForeignFileError if it is broken."""
    try:
        with TextIOWrapper(open_regular(path), "utf-8-sig", "replace") as file:
            yield from (value for value in list_values(file) if isinstance(value, dict))
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, RecursionError) as error:
        raise damaged(path, error) from error


def list_values(file: TextIO) -> Iterator[Any]:
    """Yield the values of a JSON list one by one. Memory contains only the largest.

    Raises ValueError or RecursionError if the text is not such a list.
    """
    text = _Window(file)
    text.take("[")
    if text.next_sign() != "]":
        yield text.take_value()
        while text.next_sign() == ",":
            text.take(",")
            yield text.take_value()
    text.take("]")
    if text.next_sign():
        message = "it goes on after its end"
        raise ValueError(message)


class _Window:
    """The part of a file that is currently read."""

    def __init__(self, file: TextIO) -> None:
        self._file, self._text, self._at = file, "", 0
        self._decode = JSONDecoder(strict=False, parse_constant=lambda _constant: None).raw_decode

    def next_sign(self) -> str:
        """Return the next character that is not a space, or "" at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in " \t\r\n":
                self._at += 1
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._read_on(_AT_ONCE):
                return ""

    def take(self, sign: str) -> None:
        """Skip the next character, which must be `sign`."""
        if self.next_sign() != sign:
            message = f"it has {self.next_sign() or 'its end'!r} where {sign!r} belongs"
            raise ValueError(message)
        self._at += 1

    def take_value(self) -> Any:
        """Read the next value."""
        self.next_sign()
        while True:
            try:
                value, end = self._decode(self._text, self._at)
            except JSONDecodeError as error:
                if not self._read_on(len(self._text)):
                    raise ValueError(error.msg) from None  # without its position, which is relative to the window
                continue
            may_go_on = len(self._text) - end < len("e+1")  # a number that the end of the window splits
            if not (may_go_on and self._read_on(_AT_ONCE)):
                self._at = end
                return value

    def _read_on(self, characters: int) -> bool:
        """Read more and drop the consumed part. Return False at the end of the file."""
        more = self._file.read(max(_AT_ONCE, characters))
        if not more:
            return False
        self._text, self._at = self._text[self._at :] + more, 0
        if len(self._text) > _LONGEST_ENTRY:
            message = "it holds a value that is too long"
            raise ValueError(message)
        return True
