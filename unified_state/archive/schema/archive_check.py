"""Checks of an archive: its pages, its tables, the texts and numbers in them.

SQLite itself checks pages and indexes only. A damaged byte in the name of a table, in a text or in the type of a value
passes that check, and code that reads it fails in some other way.
"""

from __future__ import annotations

import os
import time
from contextlib import closing
from sqlite3 import Connection, DatabaseError, connect
from typing import Any

from unified_state.archive.schema.archive_schema import FIRST_VERSION, create_tables, newest_version
from unified_state.lib.json_text import parse_json
from unified_state.model.constraint import ORIGINS
from unified_state.model.item import ALIAS_LETTERS, STATUSES

# Errors of SQLite and its Python module for damaged bytes. The module decodes messages that quote them.
UNREADABLE_ERRORS = (DatabaseError, UnicodeDecodeError, OverflowError, MemoryError)
_READ_ONLY = 8
_STEPS = 10_000  # SQLite VM instructions between two checks of the clock
_TYPES: dict[str, Any] = {"INTEGER": (int, float), "REAL": (int, float), "TEXT": str}
_JSON: dict[str, dict[str, type]] = {
    "item": {"files": list, "file_hashes": dict},
    "session": {"work": dict},
    "saved": {"git": dict},
    "survival": {"restored": list},
}
# The values that the ledger writes into these columns of an item. Items of other stores may have others.
_WORDS = {"kind": tuple(ALIAS_LETTERS), "status": STATUSES, "origin": ORIGINS}
_BROKEN = "\ufffd"  # the replacement for invalid UTF-8


def problem_in(path: str, seconds: float | None = None, *, reads_all: bool = True) -> str | None:
    """Return a problem with the archive in a few words, or None. A missing file is no problem, since it will be
    created. Without `reads_all` only the header, the schema and the table of items are checked.

    Raises TimeoutError if the check takes longer than `seconds`, DatabaseError if another process locks the file.
    """
    if not os.path.exists(path):
        return None
    if not os.path.getsize(path):
        return "it is empty"
    connection = None
    try:
        connection = connect(path, timeout=5.0, isolation_level=None)
        if seconds is not None:
            until = time.monotonic() + seconds
            connection.set_progress_handler(lambda: int(time.monotonic() > until), _STEPS)
        return _problem(connection, path, reads_all=reads_all)
    except UNREADABLE_ERRORS as error:
        code = getattr(error, "sqlite_errorname", "")
        if code == "SQLITE_INTERRUPT":
            raise TimeoutError from error
        if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_CANTOPEN", "SQLITE_IOERR", "SQLITE_FULL")):
            raise
        return f"{error}"
    finally:
        if connection is not None:
            connection.close()


def _problem(connection: Connection, path: str, *, reads_all: bool) -> str | None:
    (encoding,) = connection.execute("PRAGMA encoding").fetchone()
    if encoding != "UTF-8":
        return f"its texts are said to be {encoding}"
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if not FIRST_VERSION <= version <= newest_version():
        return None if version > 0 else f"its version is {version}"  # opening another version raises an error
    if not _can_be_written(connection, path):
        return "its header says that it may not be written"
    with closing(expected_schema(version)) as expected:
        if not reads_all:
            return _schema_problem(connection, expected) or ledger_problem(connection)
        (problem,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if problem != "ok":
            return str(problem)
        found = _schema_problem(connection, expected) or _value_problem(connection, expected)
    return found or words_problem(connection)


def _can_be_written(connection: Connection, path: str) -> bool:
    """Return False if only the header of the file forbids to write it."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")
    except DatabaseError as error:
        if (getattr(error, "sqlite_errorcode", 0) & 0xFF) != _READ_ONLY:
            raise
        return not (os.access(path, os.W_OK) and os.access(os.path.dirname(path), os.W_OK))
    return True


def expected_schema(version: int) -> Connection:
    """Return an empty archive of a version, in memory."""
    connection = connect(":memory:", isolation_level=None)
    create_tables(connection, version)
    return connection


def schema_rows(connection: Connection) -> list[tuple[Any, ...]]:
    """Return row number, type, name, table and statement of each entry of a schema, in the order of creation."""
    rows: list[tuple[Any, ...]] = connection.execute(
        "SELECT rowid, type, name, tbl_name, sql FROM sqlite_master ORDER BY rowid"
    ).fetchall()
    return rows


def plain_tables(connection: Connection) -> list[str]:
    """Return the names of our tables, without those of SQLite and of the full-text index."""
    return [
        name
        for _, kind, name, *_ in schema_rows(connection)
        if kind == "table" and not name.startswith(("step_words", "sqlite_"))
    ]


def typed_columns(connection: Connection, table: str) -> list[tuple[str, str]]:
    """Return the columns of a table with their declared types."""
    return [(name, kind) for _, name, kind, *_ in connection.execute(f"PRAGMA table_info('{table}')")]


def fits(table: str, columns: list[tuple[str, str]], row: tuple[Any, ...]) -> bool:
    """Return whether the values of a row fit the types of their columns, and those of an item the ledger."""
    named = dict(zip((name for name, _ in columns), row, strict=True))
    if table == "item" and (named["kind"] not in ALIAS_LETTERS or _BROKEN in f"{named['uuid']}{named['alias']}"):
        return False
    return _has_types(columns, row)


def _has_types(columns: list[tuple[str, str]], row: tuple[Any, ...]) -> bool:
    return all(
        value is None or isinstance(value, _TYPES.get(kind, object))
        for (_, kind), value in zip(columns, row, strict=True)
    )


def _schema_problem(connection: Connection, expected: Connection) -> str | None:
    entries = schema_rows(connection)
    present = {(kind, name, table) for _, kind, name, table, _ in entries}
    triggers = {name: sql for _, kind, name, _, sql in entries if kind == "trigger"}
    for _, kind, name, table, sql in schema_rows(expected):
        if (kind, name, table) not in present:
            return f"the {kind} {name} is missing"
        if kind == "trigger" and triggers[name] != sql:
            return f"the trigger {name} is not as it was made"
        if kind == "table" and typed_columns(connection, name) != typed_columns(expected, name):
            return f"the columns of {name} are not as they were made"
    return None


def _value_problem(connection: Connection, expected: Connection) -> str | None:
    for table in plain_tables(expected):
        columns = typed_columns(expected, table)
        names = [name for name, _ in columns]
        # decodes each text, which fails for invalid UTF-8
        for row in connection.execute(f"SELECT {', '.join(names)} FROM {table}"):
            if not _has_types(columns, row):
                return f"a value of {table} has another type than its column"
            if table in _JSON and without_broken_json(table, names, row) != row:
                return f"a value of {table} is no JSON any more"
    return None


def without_broken_json(table: str, names: list[str], row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the row with None in place of broken JSON."""
    kinds = _JSON.get(table, {})
    return tuple(
        None if name in kinds and not _is_json(value, kinds[name]) else value
        for name, value in zip(names, row, strict=True)
    )


def _is_json(text: Any, kind: type) -> bool:
    try:
        return isinstance(parse_json(text), kind)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return False


def ledger_problem(connection: Connection) -> str | None:
    """Return a problem with the table of items or its indexes, or None: damage there hides items without an error."""
    found = connection.execute("PRAGMA integrity_check('item')").fetchone()
    return words_problem(connection) if found is None or found[0] == "ok" else str(found[0])


def words_problem(connection: Connection) -> str | None:
    """Return the first item with an unknown kind, status or origin, as text, or None."""
    query = "SELECT '{0}', alias, {0} FROM item WHERE {1}"
    wrong = " UNION ALL ".join(query.format(name, unknown_word(name)) for name in _WORDS)
    row = connection.execute(f"{wrong} LIMIT 1").fetchone()
    return None if row is None else f"the {row[0]} of {row[1]} is {row[2]!r}"


def unknown_word(name: str) -> str:
    """Return the SQL condition that an item has a value in this column which the ledger never writes."""
    known = ", ".join(f"'{word}'" for word in _WORDS[name])
    return f"{name} NOT IN ({known}) AND uuid NOT IN (SELECT key FROM carried WHERE what = 'item')"
