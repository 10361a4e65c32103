"""Know a server again by its own id, whatever its address is: nothing is sent twice, and `status` lists it once.

An archive has a row for each server, called by the address that was used last. The id of that server is noted beside
it. Before servers had ids, a row was known by its address alone. Such a row is taken over if the server proves that it
has what was sent.
"""

from __future__ import annotations

from collections.abc import Callable

from unified_state.lib.record import Record
from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.schema.outbox_triggers import note_everything
from unified_state.memory.archive.steps import uuid_text

_LAST_SENT = """
SELECT uuid FROM step WHERE id <= ? AND kind NOT NULL AND id NOT IN (SELECT step FROM pruned) ORDER BY id DESC LIMIT 1
"""
_OF_SERVER = ("outbox", "outbox_session", "outbox_vectors")


class Told(Record):
    """What a server said of itself: its id, the mark of this archive there, and whether it has an entry."""

    identity: str
    read_mark: Callable[[], int]
    has_entry: Callable[[str], bool]


class _Row(Record):
    """A server as the archive knows it."""

    number: int
    name: str
    step: int
    is_reached: bool
    began_at: int
    identity: str
    mark: int


def mark_key(name: str) -> str:
    """Return the key in the archive of the mark of a server."""
    return f"mark of {name}"


def know_again(archive: Archive, name: str, who: str, told: Told) -> bool:
    """Let the row `name` be that of the server that says `told`. Return whether it is another row than before.

    Where the address leads to a server that nothing was sent to, the mark is raised, so that everything is sent again.

    `who` begins the names of all rows of the same organisation, project and member.
    """
    with archive.transaction():
        rows = _rows(archive, name, who)
        (current,) = (row for row in rows if row.name == name)
        known = sorted((row for row in rows if row.identity == told.identity), key=lambda row: row.name != name)
        chosen = next(iter(known), None)
        if chosen is None and not current.identity and current.is_reached:
            chosen = current  # from before servers had ids
        if chosen is None:
            chosen = _proven(archive, [row for row in rows if row.is_reached and not row.identity], told)
            if chosen is not None:
                note_everything(archive, chosen.number)  # but for steps, of which the last one is there
        for row in known:
            if row != chosen:
                _drop(archive, row)
        if chosen is None and current.identity:
            archive.set_meta(mark_key(name), str(max(current.mark, told.read_mark() + 1)))
        if chosen is not None and chosen != current:
            _drop(archive, current)
            _rename(archive, chosen, name)
        archive.set_meta(_identity_key(name), told.identity)
    return chosen not in {None, current}


def _rows(archive: Archive, name: str, who: str) -> list[_Row]:
    """Return the servers that this history was sent to under the same names."""
    found = archive.rows(
        "SELECT id, name, step, offered > 0 OR complete_at NOT NULL, coalesce(began_at, 0) FROM outbox_server"
    )
    return [
        _Row(
            number,
            called,
            step,
            bool(is_reached),
            began_at,
            archive.meta(_identity_key(called)) or "",
            int(archive.meta(mark_key(called)) or 0),
        )
        for number, called, step, is_reached, began_at in found
        if called == name or (who and called.startswith(f"{who} on "))
    ]


def _proven(archive: Archive, rows: list[_Row], told: Told) -> _Row | None:
    """Return the row of which the server has what was sent: it knows this archive, no less of it, and the last step."""
    mark = told.read_mark() if rows else 0
    for row in sorted(rows, key=lambda row: (row.mark != mark, -row.began_at)):
        last = archive.row(_LAST_SENT, row.step)
        if 0 < row.mark <= mark and last is not None and told.has_entry(uuid_text(last[0])):
            return row
    return None


def _drop(archive: Archive, row: _Row) -> None:
    for table in _OF_SERVER:
        archive.run(f"DELETE FROM {table} WHERE server = ?", row.number)
    archive.run("DELETE FROM outbox_server WHERE id = ?", row.number)
    archive.run("DELETE FROM meta WHERE name IN (?, ?)", mark_key(row.name), _identity_key(row.name))


def _rename(archive: Archive, row: _Row, name: str) -> None:
    archive.run("UPDATE outbox_server SET name = ? WHERE id = ?", name, row.number)
    archive.run("DELETE FROM meta WHERE name IN (?, ?)", mark_key(row.name), _identity_key(row.name))
    archive.set_meta(mark_key(name), str(row.mark))


def _identity_key(name: str) -> str:
    return f"id of {name}"
