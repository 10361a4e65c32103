"""An archive whose history is a journal: SQLite holds it in memory, replayed when it is opened.

A commit appends the rows that it changed to the journal before it returns. Where text has to leave, it writes the
journal anew. Triggers note which rows change, so no writer depends on the journal. The full-text index is not in it: a
search makes it. All else is restored exactly, with the numbers that refs name.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from sqlite3 import Connection, Cursor, DatabaseError
from types import TracebackType
from typing import Any

from unified_state.archive.archive import ARCHIVE_VERSION, MEMORY, Archive, Transaction, connect_archive
from unified_state.archive.index.step_index import empty_index
from unified_state.archive.journal.journal import HEADER, Journal, Line
from unified_state.archive.schema.archive_schema import migrate
from unified_state.archive.schema.outbox_triggers import make_triggers
from unified_state.errors import NewerArchiveError
from unified_state.hosts.gate.generation import written_table
from unified_state.lib.package import upgrade_line
from unified_state.lib.text import UNREADABLE, pack, unpack

_TABLES, _ROWS = "archive", "rows"  # in the header: the version of the tables, the number of rows
_GONE, _TEXT, _BYTES = "gone", "text", "bytes"
_LEAVING = frozenset(("tombstone", "pruned"))  # a row of one of these means that text of others leaves
_WRITES = ("INSERT", "UPDATE", "DELETE", "REPLACE")
_SLACK = 20_000  # rows by which a journal may grow before it is written anew
_MOST_KEYS = 4  # columns of a primary key
_OTHERS = " AND ".join(f"name NOT GLOB '{name}*'" for name in ("sqlite_", "step_words", "unindexed", "migration"))


class JournalledArchive(Archive):
    """The archive of the journal at a path. It can be read even where nothing can be written."""

    has_journal = True

    def __init__(self, path: str, *, seconds: float = 5.0, mask: Callable[[str], str] = str) -> None:
        self.journal = Journal(path, seconds)
        self.unusable = 0  # rows that cannot be read
        self._rewrites = False
        self._rows = self._applied = 0  # those of the header, and those that the lines had
        self._noted = 0  # changes that are in the journal
        super().__init__(MEMORY, seconds=seconds, mask=mask)
        self.folder, self.file = os.path.dirname(path), path

    def _open(self, _seconds: float) -> Connection:
        version = self._version(self.journal.header())
        self.connection = connect_archive(MEMORY, 0, version)
        try:
            self._tables = self._read_tables()
            self.catch_up()
            if version < ARCHIVE_VERSION:
                migrate(self.connection, MEMORY)
                self._tables, self._rewrites = self._read_tables(), True
            self._note_changes()
        except BaseException:
            self.connection.close()
            raise
        return self.connection

    def compact(self) -> None:
        """Write the journal anew, without what its rows do not need."""
        self._rewrites = True
        with self.transaction():
            pass

    def transaction(self, *, durable: bool = True) -> Transaction:
        """Return a transaction that commits to the journal first."""
        return _Journalled(self, durable=durable)

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Cursor:
        """Run one statement, as a transaction if it writes outside of one."""
        if self.connection.in_transaction or written_table(sql)[0] not in _WRITES:
            return super().execute(sql, values)
        with self.transaction():
            return super().execute(sql, values)

    def catch_up(self) -> None:
        """Replay what others have committed since. Call it outside of a transaction."""
        lines = self.journal.news()
        first = next(lines, None)
        if first is None:
            return
        with Transaction(self.connection, "OFF"):
            triggers = self.rows("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
            for name, _ in triggers:
                self.run(f"DROP TRIGGER {name}")
            for line in (first, *lines):
                self._apply(line)
            for _, sql in triggers:
                self.run(sql)
            if self.row("SELECT 1 FROM outbox_server LIMIT 1"):
                make_triggers(self)
            empty_index(self)
            self.run("INSERT OR IGNORE INTO unindexed SELECT id FROM step WHERE kind NOT NULL")
        if self.row("SELECT 1 FROM sqlite_temp_schema LIMIT 1"):
            self._noted = self._last_change()

    def _apply(self, line: Line) -> None:
        if HEADER in line:
            self._version(line)
            self._rows, self._applied = line.get(_ROWS, 0), 0
            self.unusable = 0
            for name in self._tables:
                self.connection.execute(f"DELETE FROM {name}")
            return
        for name, rows in line.items():
            for row in rows if isinstance(rows, list) else [None]:
                self._applied += 1
                self.unusable += not self._put(name, row)

    def _put(self, name: str, row: Any) -> bool:
        """Apply a row of a line, and return whether that was possible: the disk or an editor may have changed it."""
        try:
            if name == _GONE:
                table, *keys = row
                where = " AND ".join(f"{key} IS ?" for key in self._tables[table][1])
                self.connection.execute(f"DELETE FROM {table} WHERE {where}", list(map(_stored, keys)))
            else:
                columns = [column for column in self._tables[name][0] if column in row]
                sql = f"INSERT OR REPLACE INTO {name} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
                self.connection.execute(sql, [_stored(row[column]) for column in columns])
        except (DatabaseError, ValueError, KeyError, TypeError, AttributeError):
            return False
        return True

    def write_ahead(self, *, durable: bool) -> None:
        """Write the changes of this transaction to the journal. Call it in the transaction, with the lock held."""
        line, last = self._changed(), self._last_change()
        is_grown = self._applied > 4 * self._rows + _SLACK
        if line and (self._rewrites or not self.journal.header() or is_grown or line.keys() & _LEAVING):
            self._rewrites = True
        if self._rewrites:
            count = sum(int(self.row(f"SELECT count(*) FROM {name}")[0]) for name in self._tables)
            self.journal.write_anew({_TABLES: ARCHIVE_VERSION, _ROWS: count}, self._all_lines())
            self._rows, self._applied, self._rewrites, self.unusable = count, count, False, 0
        elif line:
            self.journal.append(line, durable=durable)
        self._noted = last

    def _changed(self) -> Line:
        """Return the rows that changed, by their tables, as they are now."""
        changed = self.rows("SELECT DISTINCT what, k1, k2, k3, k4 FROM journal_changed WHERE rowid > ?", self._noted)
        line: Line = {}
        for name, *values in changed:
            columns, keys = self._tables[name]
            key = values[: len(keys)]
            row = self.row(
                f"SELECT {', '.join(columns)} FROM {name} WHERE {' AND '.join(f'{one} IS ?' for one in keys)}", *key
            )
            gone = [name, *map(_told, key)]
            line.setdefault(_GONE if row is None else name, []).append(gone if row is None else _line(columns, row))
        return line

    def _all_lines(self) -> Iterator[Line]:
        for name, (columns, _) in self._tables.items():
            for row in self.execute(f"SELECT {', '.join(columns)} FROM {name}"):
                yield {name: [_line(columns, row)]}

    def _last_change(self) -> int:
        return int(self.value("SELECT coalesce(max(rowid), 0) FROM journal_changed") or 0)

    def _read_tables(self) -> dict[str, tuple[list[str], list[str]]]:
        """Return the tables that a journal holds, each with its columns and those of its key."""
        found: dict[str, tuple[list[str], list[tuple[int, str]]]] = {}
        for table, column, place in self.rows(
            "SELECT tables.name, columns.name, columns.pk FROM (SELECT name FROM sqlite_schema WHERE type = 'table' "
            f"AND {_OTHERS}) AS tables JOIN pragma_table_info(tables.name) AS columns"
        ):
            columns, keys = found.setdefault(table, ([], []))
            columns.append(column)
            if place:
                keys.append((place, column))
        return {
            name: (columns if keys else ["rowid", *columns], [key for _, key in sorted(keys)] or ["rowid"])
            for name, (columns, keys) in found.items()
        }

    def _note_changes(self) -> None:
        """Create the triggers that note changed rows."""
        self.run("CREATE TEMP TABLE journal_changed (what TEXT NOT NULL, k1, k2, k3, k4)")
        for name, (_, keys) in self._tables.items():
            for event, rows in (("INSERT", ("new",)), ("UPDATE", ("old", "new")), ("DELETE", ("old",))):
                notes = ""
                for row in rows:
                    values = [f"{row}.{key}" for key in keys] + ["NULL"] * (_MOST_KEYS - len(keys))
                    notes += f"INSERT INTO journal_changed VALUES ('{name}', {', '.join(values)});"
                trigger = f"CREATE TEMP TRIGGER journal_{name}_{event} AFTER {event} ON main.{name}"
                self.run(f"{trigger} BEGIN {notes} END")

    def _version(self, header: Line) -> int:
        """Return the version of the tables of a journal. Raises NewerArchiveError."""
        version = header.get(_TABLES, ARCHIVE_VERSION)
        if header.get(HEADER, 1) != 1 or not isinstance(version, int) or version > ARCHIVE_VERSION:
            message = f"the journal {self.journal.path} was written by a newer version"
            raise NewerArchiveError(message, f"upgrade unified-state: {upgrade_line()}")
        return version


class _Journalled(Transaction):
    """A transaction that holds the journal's lock and commits to the journal first."""

    def __init__(self, archive: JournalledArchive, *, durable: bool) -> None:
        super().__init__(archive.connection, "OFF")
        self._archive, self._durable = archive, durable

    def __enter__(self) -> None:
        self._archive.journal.__enter__()
        try:
            self._archive.catch_up()
            super().__enter__()
        except BaseException:
            self._archive.journal.__exit__()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                try:
                    self._archive.write_ahead(durable=self._durable)
                except BaseException as failed:
                    super().__exit__(type(failed), failed, None)
                    raise
            super().__exit__(kind, error, trace)
        finally:
            self._archive.journal.__exit__()


def _line(columns: list[str], row: tuple[Any, ...]) -> Line:
    return {column: _told(value) for column, value in zip(columns, row, strict=True) if value is not None}


def _told(value: Any) -> Any:
    if not isinstance(value, bytes):
        return value
    text = unpack(value)
    return {_TEXT: text} if text != UNREADABLE and pack(text) == value else {_BYTES: value.hex()}


def _stored(told: Any) -> Any:
    if not isinstance(told, dict):
        return told
    return pack(told[_TEXT]) if _TEXT in told else bytes.fromhex(told[_BYTES])
