"""Rows of the archive as records of history."""

from __future__ import annotations

from unified_state.lib.stdlib import dump_json, parse_json
from unified_state.lib.text import pack, unpack
from unified_state.lib.times import to_text
from unified_state.memory.archive.compactions import FORGOTTEN
from unified_state.memory.archive.steps import find_placed
from unified_state.model.history_records import (
    COMPACTION,
    ITEM,
    SESSION,
    STEP,
    StoredCompaction,
    StoredItem,
    StoredSession,
    StoredStep,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from unified_state.memory.archive.archive import Archive
    from unified_state.model.item import LedgerItem


def carried(archive: Archive, what: str, key: object) -> dict[str, Any]:
    """The fields of a record that the archive has no column for."""
    row = archive.row("SELECT fields FROM carried WHERE what = ? AND key = ?", what, key)
    return _fields(row[0]) if row else {}


def carry(archive: Archive, what: str, key: object, fields: dict[str, Any]) -> None:
    """Keep the fields of a record that the archive has no column for; none: nothing is kept."""
    archive.run("DELETE FROM carried WHERE what = ? AND key = ?", what, key)
    if fields:
        archive.run("INSERT INTO carried VALUES (?, ?, ?)", what, key, pack(dump_json(fields)))


def carry_too(archive: Archive, what: str, key: object, **fields: Any) -> None:
    """Keep fields of a record beside those that are kept of it already."""
    carry(archive, what, key, {**carried(archive, what, key), **fields})


def read_sessions(archive: Archive) -> list[StoredSession]:
    """All sessions."""
    names = [name for name in StoredSession.names if name != "unknown"]
    rows = archive.rows(f"SELECT id, {', '.join(names)} FROM session ORDER BY id")
    return [
        StoredSession(**{**dict(zip(names, row, strict=True)), **carried(archive, SESSION, number)})
        for number, *row in rows
    ]


def read_page(archive: Archive, session: int, session_id: str, after: int, limit: int) -> list[tuple[int, StoredStep]]:
    """The steps of a session whose positions follow `after`."""
    places = sorted(
        place for found in (_own_places, _copied_places, _met_places) for place in found(archive, session, after, limit)
    )[:limit]
    steps = read_steps(archive, [number for _, number in places], session_id)
    return [(place, steps[number]) for place, number in places if number in steps]


_MET = "SELECT step FROM shortened WHERE place NOT NULL"
_NEAR = 16  # pages: most sessions' steps lie that close together


def _own_places(archive: Archive, session: int, after: int, limit: int) -> list[tuple[int, int]]:
    """Of the steps that a session had first: the archive is read in order, between the session's first step and its
    last, so that a page costs the same at the end of a long session as at its beginning.
    """
    begin = after // 2 + 1 if after else _end(archive, session, "min")
    found = _places_between(archive, session, begin, begin + _NEAR * limit, limit)
    return (
        found if len(found) == limit else _places_between(archive, session, begin, _end(archive, session, "max"), limit)
    )


def _end(archive: Archive, session: int, which: str) -> int:
    """The first or the last step of a session, `min` or `max`: one look a turn."""
    sql = f"SELECT {which}((SELECT {which}(id) FROM step WHERE turn = turn.id)) FROM turn WHERE session = ?"
    return archive.row(sql, session)[0] or 0


def _places_between(archive: Archive, session: int, first: int, last: int, limit: int) -> list[tuple[int, int]]:
    return archive.rows(
        "SELECT 2 * step.id, step.id FROM step CROSS JOIN turn ON turn.id = step.turn WHERE step.id BETWEEN ?1 AND ?2 "
        f"AND session = ?3 AND kind NOT NULL AND step.id NOT IN ({_MET}) ORDER BY step.id LIMIT ?4",
        first,
        last,
        session,
        limit,
    )


def _copied_places(archive: Archive, session: int, after: int, limit: int) -> list[tuple[int, int]]:
    """Of the steps that it shares with the session that it was forked from."""
    return archive.rows(
        "SELECT 2 * step, step FROM step_copy CROSS JOIN step ON step.id = step WHERE session = ? AND step > ? "
        f"AND kind NOT NULL AND step NOT IN ({_MET}) ORDER BY step LIMIT ?",
        session,
        after // 2,
        limit,
    )


def _met_places(archive: Archive, session: int, after: int, limit: int) -> list[tuple[int, int]]:
    """Of the outputs that were archived before their transcript entries: behind the steps where those stand."""
    return archive.rows(
        "SELECT 2 * place + 1, step.id FROM shortened JOIN step ON step.id = step JOIN turn ON turn.id = turn "
        "WHERE place NOT NULL AND 2 * place + 1 > ?2 AND kind NOT NULL AND (turn.session = ?1 "
        "OR EXISTS (SELECT 1 FROM step_copy WHERE session = ?1 AND step_copy.step = step.id)) ORDER BY 1, 2 LIMIT ?3",
        session,
        after,
        limit,
    )


def read_steps(archive: Archive, numbers: Sequence[int], session_id: str | None = None) -> dict[int, StoredStep]:
    """Steps by their numbers, in that order, as of a session, or of the one that had them first."""
    placed = find_placed(archive, numbers)
    chosen = ", ".join(map(str, numbers))
    first = {
        number
        for (number,) in archive.rows(
            f"SELECT min(id) FROM step WHERE turn IN (SELECT turn FROM step WHERE id IN ({chosen})) GROUP BY turn"
        )
    }
    extra = {
        key: _fields(fields)
        for key, fields in archive.rows(f"SELECT key, fields FROM carried WHERE what = 'step' AND key IN ({chosen})")
    }
    return {
        number: StoredStep(
            **{
                **{
                    name: getattr(found.step, name)
                    for name in StoredStep.names
                    if name not in {"session_id", "unknown", "masked_at"}
                },
                "session_id": session_id or found.session_id,
                "starts_turn": number in first,
                **extra.get(number, {}),
            }
        )
        for number in numbers
        if (found := placed.get(number)) is not None
    }


def as_stored(archive: Archive, items: Sequence[LedgerItem]) -> list[StoredItem]:
    """Items of the ledger, with the names they had elsewhere."""
    boundaries = dict(archive.rows("SELECT id, boundary_uuid FROM compaction"))
    aliases: dict[str, list[str]] = {}
    for alias, uuid in archive.rows("SELECT alias, uuid FROM item_alias WHERE uuid != '' ORDER BY alias"):
        aliases.setdefault(uuid, []).append(alias)
    return [
        StoredItem(
            **{
                **item.as_dict(),
                "compaction": None,
                "boundary_uuid": boundaries.get(item.compaction),
                "aliases": tuple(aliases.get(item.uuid, ())),
                **carried(archive, ITEM, item.uuid),
            }
        )
        for item in items
    ]


def read_compactions(archive: Archive) -> list[StoredCompaction]:
    """The compactions that have a boundary and were not forgotten."""
    rows = archive.rows(
        "SELECT compaction.id, session_id, boundary_uuid, coalesce(boundary_at, compaction.started_at), trigger, "
        "pre_tokens, summary, summary_from FROM compaction JOIN session ON session.id = session "
        "WHERE boundary_uuid NOT NULL AND summary IS NOT ? ORDER BY compaction.id",
        FORGOTTEN,
    )
    names = [name for name in StoredCompaction.names if name not in {"unknown", "masked_at"}]
    return [
        StoredCompaction(
            **{
                **dict(zip(names, (*row[:5], None if row[5] is None else unpack(row[5]), row[6]), strict=True)),
                **carried(archive, COMPACTION, number),
            }
        )
        for number, *row in rows
    ]


def _fields(packed: str | bytes) -> dict[str, Any]:
    fields = parse_json(unpack(packed))
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}


def note_masked(archive: Archive, what: str, key: int | str, now: int) -> None:
    """Note that secrets in a record were masked now: in a step or a compaction, by number, or in an item, by UUID. That
    is later than the last time, also where the clock was set back.
    """
    if what == ITEM:
        archive.run("UPDATE item SET changed_at = ? WHERE uuid = ?", to_text(now), key)
    elif what in {STEP, COMPACTION}:
        last = carried(archive, what, int(key)).get("masked_at")
        carry_too(archive, what, int(key), masked_at=now if last is None else max(now, last + 1))
