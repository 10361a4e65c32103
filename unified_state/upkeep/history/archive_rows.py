"""Rows of the archive as records of history.

Every record has a name that is the same in each store: an import that is repeated changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from sqlite3 import Cursor
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.archive.sessions import session_number
from unified_state.archive.steps import find_placed, step_numbers
from unified_state.archive.text_columns import FORGOTTEN
from unified_state.ledger.item_table import list_items
from unified_state.lib.json_text import dump_json, parse_json
from unified_state.lib.text import pack, unpack
from unified_state.model.history_records import (
    COLUMNS,
    ITEM,
    HistoryRecord,
    StoredCompaction,
    StoredItem,
    StoredLink,
    StoredSession,
    StoredStep,
    Tombstone,
)
from unified_state.model.item import LedgerItem

_AT_ONCE = 500  # steps read at once
_SESSION_COLUMNS = ", ".join(COLUMNS[StoredSession])
_COMPACTIONS = """
SELECT session_id, boundary_uuid, coalesce(boundary_at, compaction.started_at) AS at, trigger, pre_tokens, summary,
    fields FROM compaction JOIN session ON session.id = session
    LEFT JOIN carried ON what = 'compaction' AND key = compaction.id
WHERE boundary_uuid NOT NULL AND summary IS NOT ? ORDER BY compaction.id
"""


def everything(archive: Archive) -> Iterator[HistoryRecord]:
    """Yield all records, in an order in which another archive can append them: each after those it refers to."""
    for session in read_sessions(archive):
        yield session
        numbers = step_numbers(archive, session_number(archive, session.session_id) or 0)
        for begin in range(0, len(numbers), _AT_ONCE):
            yield from read_steps(archive, numbers[begin : begin + _AT_ONCE], session.session_id).values()
    yield from read_compactions(archive)
    yield from as_stored(archive, list_items(archive))
    yield from read_links(archive)
    yield from read_tombstones(archive)


def carried(archive: Archive, what: str, key: object) -> dict[str, Any]:
    """Return the fields of a record that the archive has no column for."""
    row = archive.row("SELECT fields FROM carried WHERE what = ? AND key = ?", what, key)
    return _fields(row[0]) if row else {}


def carry(archive: Archive, what: str, key: object, fields: dict[str, Any]) -> None:
    """Store the fields of a record that the archive has no column for, and replace those stored before."""
    archive.run("DELETE FROM carried WHERE what = ? AND key = ?", what, key)
    if fields:
        archive.run("INSERT INTO carried VALUES (?, ?, ?)", what, key, pack(dump_json(fields)))


def note_masked(archive: Archive, what: str, number: int, now: int) -> None:
    """Record that secrets in a step or a compaction were masked now.

    Of two versions stores use the one masked later, so the time is after the last one even if the clock was set back.
    """
    fields = carried(archive, what, number)
    carry(archive, what, number, {**fields, "masked_at": max(now, fields.get("masked_at", -1) + 1)})


def read_sessions(archive: Archive) -> list[StoredSession]:
    """Return all sessions."""
    rows = archive.execute(
        f"SELECT {_SESSION_COLUMNS}, fields FROM session LEFT JOIN carried ON what = 'session' AND key = session.id "
        "ORDER BY session.id"
    )
    return [StoredSession(**found) for found in _named(rows)]


def read_steps(archive: Archive, numbers: Sequence[int], session_id: str | None = None) -> dict[int, StoredStep]:
    """Return steps by their numbers, in that order, with the given session or the one that had them first."""
    placed, chosen = find_placed(archive, numbers), ", ".join(map(str, numbers))
    turns = f"SELECT turn FROM step WHERE id IN ({chosen})"
    first = set(archive.column(f"SELECT min(id) FROM step WHERE turn IN ({turns}) GROUP BY turn"))
    extra = dict(archive.rows(f"SELECT key, fields FROM carried WHERE what = 'step' AND key IN ({chosen})"))
    steps = {}
    for number in filter(placed.__contains__, numbers):
        found = placed[number]
        told = {"session_id": session_id or found.session_id, "starts_turn": number in first}
        steps[number] = StoredStep(**{**found.step.as_dict(), **told, **_fields(extra.get(number))})
    return steps


def as_stored(archive: Archive, items: Sequence[LedgerItem]) -> list[StoredItem]:
    """Return items of the ledger as records, with their former aliases."""
    boundaries = dict(archive.rows("SELECT id, boundary_uuid FROM compaction"))
    aliases: dict[str, list[str]] = {}
    for alias, uuid in archive.rows("SELECT alias, uuid FROM item_alias WHERE uuid != '' ORDER BY alias"):
        aliases.setdefault(uuid, []).append(alias)
    stored = []
    for item in items:
        told = {"boundary_uuid": boundaries.get(item.compaction), "aliases": tuple(aliases.get(item.uuid, ()))}
        extra = carried(archive, ITEM, item.uuid)
        stored.append(StoredItem(**{**item.as_dict(), "compaction": None, **told, **extra}))
    return stored


def read_compactions(archive: Archive) -> list[StoredCompaction]:
    """Return the compactions that have a boundary and were not forgotten."""
    return [
        StoredCompaction(**{**found, "summary": None if found["summary"] is None else unpack(found["summary"])})
        for found in _named(archive.execute(_COMPACTIONS, (FORGOTTEN,)))
    ]


def read_links(archive: Archive) -> Iterator[StoredLink]:
    """Return the links between items, in the order in which they were made."""
    rows = archive.rows("SELECT from_uuid, to_uuid, relation, at FROM item_link ORDER BY at, relation DESC, 1, 2")
    return (StoredLink(*row) for row in rows)


def read_tombstones(archive: Archive) -> list[Tombstone]:
    """Return the tombstones of all forgotten records."""
    return [Tombstone(*row) for row in archive.rows("SELECT what, key, at FROM tombstone ORDER BY what, key, at")]


def _named(rows: Cursor) -> Iterator[dict[str, Any]]:
    """Yield rows as fields by name, the last column, which holds the carried fields, among them."""
    for row in rows:
        yield {**dict(zip((name for name, *_ in rows.description), row[:-1], strict=False)), **_fields(row[-1])}


def _fields(packed: str | bytes | None) -> dict[str, Any]:
    fields: dict[str, Any] = parse_json(unpack(packed)) if packed else {}
    return fields
