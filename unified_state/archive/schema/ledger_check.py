"""Checks of the table of items: a damaged index, or a byte in a status, hides items without an error."""

from __future__ import annotations

from sqlite3 import Connection

from unified_state.model.constraint import ORIGINS
from unified_state.model.item import ALIAS_LETTERS, STATUSES

# The values that the ledger writes into these columns of an item. Items of other stores may have others.
_WORDS = {
    "kind": tuple(ALIAS_LETTERS),
    "status": STATUSES,
    "origin": ORIGINS,
}


def ledger_problem(connection: Connection) -> str | None:
    """Return a problem with the table of items or its indexes, or None."""
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
