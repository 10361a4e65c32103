"""Read the SQLite databases of other programs with checks.

Every problem of such a file is a ForeignFileError, and the file is never written. A database is read from a copy,
because SQLite could write to files next to the original, and its program may still be writing. The journal is copied
too, so committed rows count and open transactions do not.
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
from unified_state.lib.read_files import open_regular

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
