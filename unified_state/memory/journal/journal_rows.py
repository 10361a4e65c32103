"""Rows of an archive as lines of a journal, and back.

`{"item": {…}}` is the current state of a row, `{"gone": "note", "key": [5]}` a deleted row. Triggers record which rows
change, so no writer depends on the journal. Compressed texts are written as plain text. A replay rebuilds the full-text
index. All other tables are restored exactly, with the numbers that refs name.
"""

from __future__ import annotations

from unified_state.lib.stdlib import DatabaseError
from unified_state.lib.text import UNREADABLE, pack, unpack
from unified_state.memory.archive.index.step_index import empty_index
from unified_state.memory.archive.steps import index_left

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from unified_state.memory.archive.archive import Archive

    Line = dict[str, Any]
    Tables = dict[str, "Table"]

GONE, _KEY = "gone", "key"
_TEXT, _BYTES = "text", "bytes"
_INDEXED = 5000  # steps; they take a second, for which a hook may wait
_MOST_KEYS = 4  # columns of a primary key
_OTHERS = " AND ".join(f"name NOT GLOB '{name}*'" for name in ("sqlite_", "step_words", "journal_", "migration"))

_CHANGED = "CREATE TABLE journal_changed (what TEXT NOT NULL, k1, k2, k3, k4)"
_STATE = "CREATE TABLE journal_state (name TEXT PRIMARY KEY, value) WITHOUT ROWID"


class Table:
    """The columns and the key columns of a table, and its statements."""

    def __init__(self, name: str, columns: list[str], keys: list[str]) -> None:
        self.keys = keys or ["rowid"]
        self.columns = columns if keys else ["rowid", *columns]
        self._where = " AND ".join(f"{key} IS ?" for key in self.keys)
        self.rows = f"SELECT {', '.join(self.columns)} FROM {name}"
        self.row = f"{self.rows} WHERE {self._where}"
        self.drop = f"DELETE FROM {name} WHERE {self._where}"


def read_tables(archive: Archive) -> Tables:
    """Return the tables of an archive whose rows a journal holds."""
    found: dict[str, tuple[list[str], list[tuple[int, str]]]] = {}
    for table, column, place in archive.rows(
        "SELECT tables.name, columns.name, columns.pk FROM (SELECT name FROM sqlite_schema WHERE type = 'table' AND "
        f"{_OTHERS}) AS tables JOIN pragma_table_info(tables.name) AS columns"
    ):
        columns, keys = found.setdefault(table, ([], []))
        columns.append(column)
        if place:
            keys.append((place, column))
    return {name: Table(name, columns, [key for _, key in sorted(keys)]) for name, (columns, keys) in found.items()}


def note_changes(archive: Archive, tables: Tables) -> None:
    """Create the triggers that note changed rows, and the table with the state of the replay."""
    archive.run(_CHANGED)
    archive.run(_STATE)
    for name, table in tables.items():
        for event, rows in (("INSERT", ("new",)), ("UPDATE", ("old", "new")), ("DELETE", ("old",))):
            notes = "".join(f"INSERT INTO journal_changed VALUES ({_noted(name, table, row)});" for row in rows)
            archive.run(f"CREATE TRIGGER journal_{name}_{event.lower()} AFTER {event} ON {name} BEGIN {notes} END")


def _noted(name: str, table: Table, row: str) -> str:
    keys = [f"{row}.{key}" for key in table.keys]
    return ", ".join([f"'{name}'", *keys, *["NULL"] * (_MOST_KEYS - len(keys))])


def changed_lines(archive: Archive, tables: Tables) -> list[Line]:
    """Return a line for each row that changed since the last commit."""
    changed = archive.rows(
        "SELECT what, k1, k2, k3, k4 FROM journal_changed GROUP BY what, k1, k2, k3, k4 ORDER BY min(rowid)"
    )
    lines = []
    for name, *keys in changed:
        table = tables[name]
        key = keys[: len(table.keys)]
        row = archive.row(table.row, *key)
        lines.append({GONE: name, _KEY: list(map(_told, key))} if row is None else {name: _line(table, row)})
    return lines


def all_lines(archive: Archive, tables: Tables) -> Iterator[Line]:
    """Yield a line for every row."""
    for name, table in tables.items():
        for row in archive.execute(table.rows):
            yield {name: _line(table, row)}


def count_rows(archive: Archive, tables: Tables) -> int:
    """Return the number of lines that `all_lines` yields."""
    return sum(int(archive.row(f"SELECT count(*) FROM {name}")[0]) for name in tables)


def replay(archive: Archive, tables: Tables, lines: Iterable[Line]) -> int:
    """Replace the rows of the archive by those of the lines, and rebuild the full-text index. Return the number of
    unusable lines. Call it within a transaction.
    """
    left = load(archive, tables, lines)
    empty_index(archive)
    archive.run("INSERT OR IGNORE INTO unindexed SELECT id FROM step WHERE kind NOT NULL")
    index_left(archive, _INDEXED)  # a search indexes the rest
    return left


def load(archive: Archive, tables: Tables, lines: Iterable[Line]) -> int:
    """Replace all rows by those of the lines, without running triggers. Return the number of unusable lines."""
    triggers = archive.rows("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
    for name, _ in triggers:
        archive.run(f"DROP TRIGGER {name}")
    for name in tables:
        archive.run(f"DELETE FROM {name}")
    left = sum(not _put(archive, tables, line) for line in lines)
    for _, sql in triggers:
        archive.run(sql)
    return left


def _put(archive: Archive, tables: Tables, line: Line) -> bool:
    """Apply a line, and return whether that was possible."""
    try:
        if GONE in line:
            archive.execute(tables[line[GONE]].drop, list(map(_stored, line[_KEY])))
        else:
            ((name, row),) = line.items()
            columns = [column for column in tables[name].columns if column in row]
            sql = f"INSERT OR REPLACE INTO {name} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
            archive.execute(sql, [_stored(row[column]) for column in columns])
    except (DatabaseError, ValueError, KeyError, TypeError, AttributeError):  # the disk or an editor changed it
        return False
    return True


def _line(table: Table, row: tuple[Any, ...]) -> Line:
    return {column: _told(value) for column, value in zip(table.columns, row, strict=True) if value is not None}


def _told(value: Any) -> Any:
    if not isinstance(value, bytes):
        return value
    text = unpack(value)
    return {_TEXT: text} if text != UNREADABLE and pack(text) == value else {_BYTES: value.hex()}


def _stored(told: Any) -> Any:
    if not isinstance(told, dict):
        return told
    return pack(told[_TEXT]) if _TEXT in told else bytes.fromhex(told[_BYTES])
