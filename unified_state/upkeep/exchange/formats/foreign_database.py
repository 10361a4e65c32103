"""A database of another program, read from a copy of its own: the original is never opened by SQLite, which could
write to the files beside it, and its owner may go on writing.

Its journal is copied with it: what was committed counts, what was half done does not.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import ExitStack

from unified_state.errors import ForeignFileError
from unified_state.lib.foreign_values import clean_text
from unified_state.lib.stdlib import DatabaseError, connect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType
    from typing import Any, Self

MAGIC = b"SQLite format 3\0"
_ENDINGS = ("", "-wal", "-journal")  # a WAL index (-shm) is made anew
_TRIES = 5
# Where SQLite's message quotes bytes that are no text, as in the name of a column, its module cannot decode that.
_UNREADABLE = (DatabaseError, UnicodeDecodeError)
_LENGTH_LIMIT, _LONGEST_VALUE = 0, 1 << 28  # SQLITE_LIMIT_LENGTH; a larger one is not what any program wrote


class ForeignDatabase:
    """`with ForeignDatabase(path) as database: …`. All that goes wrong is a ForeignFileError."""

    def __init__(self, path: str) -> None:
        self._path = path
        with ExitStack() as undo:  # also where ^C ends the copying
            try:
                folder = tempfile.mkdtemp(prefix="unified-state-")
                undo.callback(shutil.rmtree, folder, ignore_errors=True)
                self._connection = connect(_copy(os.path.realpath(path), folder), isolation_level=None)
                undo.callback(self._connection.close)
                self._harden()
                self._columns = self._read_columns()
            except (*_UNREADABLE, OSError, ForeignFileError) as error:
                raise self._error(error) from error
            self._undo = undo.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _type: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._undo.close()
        if isinstance(error, _UNREADABLE):
            raise self._error(error) from error

    def columns(self, table: str) -> frozenset[str]:
        """The columns of a table; none where there is no such table."""
        return self._columns.get(table, frozenset())

    def require(self, table: str, columns: Sequence[str], program: str) -> None:
        """Raise ForeignFileError unless the table is there and whole, and has these columns."""
        missing = [name for name in columns if name not in self.columns(table)]
        if missing:
            message = (
                f"{self._path} is no database of {program} that this version can read: {table} has no {missing[0]}"
            )
            raise ForeignFileError(message, "upgrade unified-state, or report the version of that program")
        (found,) = self._connection.execute(f"PRAGMA quick_check('{table}')").fetchone()
        if found != "ok":
            message = f"{self._path} is damaged: {clean_text(found)[:200]}"
            raise ForeignFileError(message, f"repair it with {program}, or import a backup of it")

    def rows(self, sql: str, *values: Any) -> Iterator[dict[str, Any]]:
        """The rows of a query, by column."""
        cursor = self._connection.execute(sql, values)
        names = [column[0] for column in cursor.description]
        return (dict(zip(names, row, strict=True)) for row in cursor)

    def _harden(self) -> None:
        # What it calls text may be none: a program that cuts between the halves of an emoji writes half of it.
        self._connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        self._connection.setlimit(_LENGTH_LIMIT, _LONGEST_VALUE)
        for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "query_only = ON"):
            self._connection.execute(f"PRAGMA {pragma}")

    def _read_columns(self) -> dict[str, frozenset[str]]:
        """Of real tables alone: a view could be anything."""
        rows = self._connection.execute(
            "SELECT schema.name, info.name FROM sqlite_master AS schema, pragma_table_info(schema.name) AS info "
            "WHERE schema.type = 'table' AND schema.sql NOT LIKE 'CREATE VIRTUAL%'"
        )
        found: dict[str, set[str]] = {}
        for table, column in rows:
            found.setdefault(table, set()).add(column)
        return {table: frozenset(names) for table, names in found.items()}

    def _error(self, error: Exception) -> ForeignFileError:
        if isinstance(error, ForeignFileError):
            return error
        if isinstance(error, OSError):
            message = f"{self._path} cannot be read: {error.strerror or error}"
            return ForeignFileError(message, "name a file that you may read, and have room for a copy of it")
        return ForeignFileError(f"{self._path} is damaged: {error}", "import a backup of it")


def _copy(path: str, folder: str) -> str:
    """A copy of the files of a database, as they were at one moment."""
    copy = os.path.join(folder, "copy.db")
    for _ in range(_TRIES):
        before = _marks(path)
        for ending in _ENDINGS:
            if os.path.exists(path + ending):
                shutil.copyfile(path + ending, copy + ending)
        if before == _marks(path):
            return copy
        for ending in _ENDINGS:
            if os.path.exists(copy + ending):
                os.unlink(copy + ending)
    message = f"{path} changes all the time"
    raise ForeignFileError(message, "end the program that writes it, and try again")


def _marks(path: str) -> list[tuple[int, int] | None]:
    """What changes when one of the files does."""
    marks: list[tuple[int, int] | None] = []
    for ending in _ENDINGS:
        try:
            found = os.stat(path + ending)
        except FileNotFoundError:
            marks.append(None)
        else:
            marks.append((found.st_mtime_ns, found.st_size))
    return marks
