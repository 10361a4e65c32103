"""The timeline tables: sessions and turns in the order in which a person reads them, in pages."""

from __future__ import annotations

from typing import Any

from unified_state.archive.archive import Archive
from unified_state.archive.steps import KIND_NUMBERS
from unified_state.lib.json_text import parse_json
from unified_state.lib.record import Record
from unified_state.lib.text import unpack
from unified_state.lib.times import CLOCK_AHEAD
from unified_state.model.hook_event import HOST_MARK
from unified_state.model.step import PROMPT


class SessionLine(Record):
    """A session in a list: its title is that of its work item. `tokens` is the last known size of its context."""

    number: int
    session_id: str
    branch: str | None
    predecessor: str | None
    tool_calls: int
    title: str
    first_prompt: str
    turns: int
    compactions: int
    tokens: int | None
    began_at: int
    last_at: int


class TurnLine(Record):
    """A turn without its steps. `agent` is the subagent that it belongs to."""

    number: int
    agent: str | None
    at: int


_SESSIONS = (
    "SELECT id, session_id, branch, predecessor, tool_calls, work, "
    "(SELECT count(*) FROM turn WHERE turn.session = session.id AND agent IS NULL), "
    "(SELECT count(*) FROM compaction WHERE compaction.session = session.id "
    "AND (boundary_at NOT NULL OR summary NOT NULL)), "
    "(SELECT tokens FROM context WHERE context.session = session.id), "
    "(SELECT at FROM turn WHERE turn.session = session.id ORDER BY id LIMIT 1), "
    "(SELECT at FROM turn WHERE turn.session = session.id ORDER BY id DESC LIMIT 1) AS last_at "
    "FROM session WHERE last_at NOT NULL "
)


def session_page(archive: Archive, now: int, offset: int, limit: int) -> list[SessionLine]:
    """Return a page of the sessions that have turns, the last active first. Those of a time to come are the last."""
    order = "ORDER BY last_at > ?, last_at DESC, id DESC LIMIT ? OFFSET ?"
    rows = archive.rows(_SESSIONS + order, now + CLOCK_AHEAD, limit, offset)
    return [_session(archive, row) for row in rows]


def find_session(archive: Archive, session: int) -> SessionLine | None:
    """Return one session by its number, or None if it has no turns."""
    row = archive.row(_SESSIONS + "AND id = ?", session)
    return None if row is None else _session(archive, row)


def sessions_called(archive: Archive, begin: str) -> list[int]:
    """Return the numbers of the sessions whose ids begin so, with or without the name of another host before it."""
    other = "substr(session_id, instr(session_id, ?3) + 1, ?2) = ?1"
    query = f"SELECT id FROM session WHERE substr(session_id, 1, ?2) = ?1 OR {other} LIMIT 2"
    return archive.column(query, begin, len(begin), HOST_MARK)


def _session(archive: Archive, row: Any) -> SessionLine:
    number, session_id, branch, predecessor, tool_calls, work, *counted = row
    title = (parse_json(work) if work else {}).get("workItem") or {}
    said = str(title.get("title") or "") if isinstance(title, dict) else ""
    known = (number, session_id, branch, predecessor, tool_calls, said, _first_prompt(archive, number))
    return SessionLine(*(*known, *counted))


def _first_prompt(archive: Archive, session: int) -> str:
    turns = "SELECT id FROM turn WHERE session = ? AND agent IS NULL ORDER BY id LIMIT 3"
    query = f"SELECT body FROM step WHERE turn IN ({turns}) AND kind = ? ORDER BY step.id LIMIT 1"
    return unpack(archive.value(query, session, KIND_NUMBERS[PROMPT]))


_TURNS = "SELECT id, agent, at FROM turn WHERE session = ? "


def turns_from(archive: Archive, session: int, first: int, limit: int) -> list[TurnLine]:
    """Return a session's turns from a number on, in order, with those of its subagents."""
    rows = archive.rows(_TURNS + "AND id >= ? ORDER BY id LIMIT ?", session, first, limit)
    return [TurnLine(*row) for row in rows]


def turn_before(archive: Archive, session: int, turn: int | None, count: int) -> int | None:
    """Return the number of the turn that lies `count` turns before a turn, or before the session's end. Near the
    session's begin it is the first turn; without any earlier turn it is None.
    """
    earlier = "SELECT id FROM turn WHERE session = ? AND id < ? ORDER BY id DESC LIMIT ?"
    return archive.value(f"SELECT min(id) FROM ({earlier})", session, (1 << 62) if turn is None else turn, count)


def session_of_turn(archive: Archive, turn: int) -> int | None:
    """Return the number of the session that a turn belongs to, or None."""
    return archive.value("SELECT session FROM turn WHERE id = ?", turn)


def shortened_outputs(archive: Archive, steps: list[int]) -> dict[int, tuple[int, int, int]]:
    """Return level, whole and shown characters of the outputs among the steps that the model got shortened."""
    rows = archive.rows(f"SELECT step, level, whole, shown FROM shortened WHERE step IN ({', '.join(map(str, steps))})")
    return {step: (level, whole, shown) for step, level, whole, shown in rows}
