"""The work of sessions: work item and branch, highlights, pending actions and the agent's to-do list.

An entry of an agent's to-do list is a note with a key and a state. Only the current list is stored; its history is in
the archived steps. Of a to-do that the user put somewhere the key is its place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.archive.sessions import LOCAL_SESSION
from unified_state.errors import NotFoundError, UsageError
from unified_state.lib.json_text import dump_json, parse_json
from unified_state.lib.record import Record
from unified_state.lib.times import CLOCK_AHEAD
from unified_state.model.item import Todo
from unified_state.model.session_state import Note

TODO = "todo"  # the kind of these notes
_OPEN = ("pending", "in_progress")
_OPEN_NOTES = "(session = ?1 OR session IS NULL) AND kind = ?2 AND done_at IS NULL"
_PLACE = "iif(kind = 'action', CAST(coalesce(key, id) AS INTEGER), id)"  # in the list, where the user did not order it


class WorkingSession(Record):
    """A session that has not ended. `work` is the value that `change_work` stored."""

    number: int
    session_id: str
    seen_at: int
    pid: int | None
    tool_calls: int
    work: dict[str, Any]


def add_notes(archive: Archive, session: int | None, kind: str, texts: Iterable[str], at: str) -> None:
    """Add highlights or pending actions; none is ever deleted."""
    for text in texts:
        archive.insert("note", session=session, kind=kind, text=archive.masked(text), at=at)


def close_notes(archive: Archive, session: int, kind: str, at: str) -> None:
    """Close the notes of a kind, of the session and of no session, before a newer list is added."""
    archive.run(f"UPDATE note SET done_at = ?3 WHERE {_OPEN_NOTES}", session, kind, at)


def replace_next_steps(archive: Archive, session: int, compaction: int, texts: Iterable[str], at: str) -> None:
    """Replace the next steps of earlier summaries by those in a compaction's summary, as pending actions.

    A step that is already pending is not added twice. A summary without next steps changes nothing.
    """
    steps = {text.casefold(): text for text in map(archive.masked, texts)}
    if not steps:
        return
    query = f"SELECT id, text, compaction FROM note WHERE {_OPEN_NOTES}"
    for number, text, read_from in archive.rows(query, session, "action"):
        if steps.pop(text.casefold(), None) is None and read_from is not None:
            archive.run("UPDATE note SET done_at = ? WHERE id = ?", at, number)
    for text in steps.values():
        archive.insert("note", session=session, kind="action", text=text, at=at, compaction=compaction)


def open_notes(archive: Archive, session: int | None, kind: str, limit: int) -> tuple[str, ...]:
    """Return the newest notes of a session and of no session, in order."""
    query = f"SELECT text FROM note WHERE {_OPEN_NOTES} ORDER BY {_PLACE} DESC, id DESC LIMIT ?3"
    return tuple(archive.column(query, session, kind, limit)[::-1])


def replace_todos(archive: Archive, session: int, todos: Sequence[Todo], at: str) -> None:
    """Replace the to-do list of a session."""
    archive.run("DELETE FROM note WHERE session = ? AND kind = ?", session, TODO)
    for todo in todos:
        _add_todo(archive, session, todo, at)


def change_todo(archive: Archive, session: int, todo: Todo, at: str) -> None:
    """Add an entry of a session's to-do list, or change its state or text."""
    change = (
        "UPDATE note SET text = coalesce(?1, text), state = coalesce(?2, state), "
        "done_at = CASE WHEN coalesce(?2, state) IN ('pending', 'in_progress') THEN NULL ELSE ?3 END "
        "WHERE id = (SELECT max(id) FROM note WHERE session = ?4 AND kind = ?5 AND key = ?6)"
    )
    if not archive.run(change, todo.text, todo.state, at, session, TODO, todo.key) and todo.text:
        _add_todo(archive, session, todo, at)


def forget_todos(archive: Archive, session: int, texts: set[str]) -> None:
    """Delete the entries with one of these texts from a session's list."""
    for text in texts:
        archive.run("DELETE FROM note WHERE session = ? AND kind = ? AND text = ?", session, TODO, text)


def earlier_notes(archive: Archive, worktree: str, kind: str, running: Collection[int]) -> tuple[str, ...]:
    """Return the open notes that were recorded in sessions of a worktree that are not running, in order."""
    query = (
        "SELECT session, text FROM note WHERE kind = ? AND done_at IS NULL AND compaction IS NULL "
        f"AND session IN (SELECT id FROM session WHERE worktree = ?) ORDER BY {_PLACE}, id"
    )
    return tuple(text for session, text in archive.rows(query, kind, worktree) if session not in running)


def pending_actions(archive: Archive, session: int | None, limit: int) -> tuple[str, ...]:
    """Return the pending actions of a session: the open entries of its list, each with its state, then other notes."""
    query = "SELECT state, text FROM note WHERE session = ? AND kind = ? AND done_at IS NULL ORDER BY id LIMIT ?"
    rows = archive.rows(query, session, TODO, limit)
    listed = tuple(f"[{state.replace('_', ' ')}] {text}" for state, text in rows)
    return listed + open_notes(archive, session, "action", limit - len(listed))


_NOTES = {"todo": ("action", TODO), "note": ("highlight", "highlight")}  # kinds of rows, the one to add first


def add_note(archive: Archive, session: int | None, kind: str, text: str, at: str) -> Note:
    """Add one to-do or highlight and return it."""
    add_notes(archive, session, _NOTES[kind][0], [text], at)
    return find_note(archive, archive.value("SELECT max(id) FROM note") or 0)


def list_notes(archive: Archive, kind: str, *, with_done: bool = False) -> list[Note]:
    """Return all to-dos or highlights in order; of lists that agents keep only the newest session's, and that first."""
    where = "WHERE kind = ? OR (kind = ? AND session = (SELECT max(session) FROM note WHERE kind = 'todo'))"
    rows = archive.rows(
        f"SELECT id, kind, text, at, done_at FROM note {where} ORDER BY kind != '{TODO}', {_PLACE}, id", *_NOTES[kind]
    )
    return [_note(*row) for row in rows if with_done or row[-1] is None]


def find_note(archive: Archive, number: int) -> Note:
    """Return a to-do or highlight by the number of its id. Raises NotFoundError."""
    row = archive.row("SELECT id, kind, text, at, done_at FROM note WHERE id = ?", number)
    if row is None or not any(row[1] in kinds for kinds in _NOTES.values()):
        message = f"there is no to-do and no note N{number}"
        raise NotFoundError(message, "`unified-state list todo` and `list note` show them")
    return _note(*row)


def change_note(archive: Archive, number: int, at: str, *, text: str | None = None, done: bool | None = None) -> Note:
    """Give a to-do or highlight another text, end it or open it again, and return it."""
    before = find_note(archive, number)
    ends = before.done if done is None else done
    change = "UPDATE note SET text = coalesce(?, text), done_at = ?, state = iif(kind = 'todo', ?, NULL) WHERE id = ?"
    done_at, state = (at, "completed") if ends else (None, "pending")
    archive.run(change, None if text is None else archive.masked(text), done_at, state, number)
    return find_note(archive, number)


def move_note(archive: Archive, number: int, before: int) -> None:
    """Put a to-do before another one. Raises UsageError for what is not open and the user's to order."""
    order = archive.column(f"SELECT id FROM note WHERE kind = 'action' AND done_at IS NULL ORDER BY {_PLACE}, id")
    if number == before or not {number, before} <= set(order):
        message = f"N{number} cannot be put before N{before}"
        raise UsageError(message, "`unified-state list todo` shows the order; an agent's own list keeps its own")
    order.remove(number)
    order.insert(order.index(before), number)
    for place, one in enumerate(order, 1):  # a new to-do is the last one: its id is above all places
        archive.run("UPDATE note SET key = ? WHERE id = ?", str(place), one)


def _note(number: int, kind: str, text: str, at: str, done_at: str | None) -> Note:
    return Note(f"N{number}", "note" if kind == "highlight" else "todo", text, at, done_at is not None)


def _add_todo(archive: Archive, session: int, todo: Todo, at: str) -> None:
    done_at = None if todo.state in _OPEN else at
    archive.insert("note", session=session, kind=TODO, at=at, done_at=done_at, **todo.as_dict())


def read_work(archive: Archive, session: int) -> dict[str, Any]:
    """Return the work of a session, as `change_work` stored it."""
    work: dict[str, Any] = parse_json(archive.value("SELECT work FROM session WHERE id = ?", session) or "{}")
    return work


def earlier_work_item(archive: Archive, worktree: str) -> dict[str, Any] | None:
    """Return the newest work item of a worktree's sessions, or of no session, whether they ended or not."""
    query = "SELECT work FROM session WHERE (worktree = ? OR session_id = ?) AND work LIKE ? ORDER BY seen_at DESC"
    works = archive.column(query, worktree, LOCAL_SESSION, '%"workItem"%')
    return next((item for work in works if (item := parse_json(work).get("workItem"))), None)


def change_work(archive: Archive, session: int, changes: dict[str, Any]) -> None:
    """Change fields of a session's work. Other fields stay."""
    work = archive.masked({**read_work(archive, session), **changes})
    archive.run("UPDATE session SET work = ? WHERE id = ?", dump_json(work), session)


def working_sessions(archive: Archive, worktree: str, since: int, now: int) -> list[WorkingSession]:
    """Return the sessions of a worktree that were active since then and have not ended, the newest first."""
    query = (
        "SELECT id, session_id, seen_at, pid, tool_calls, work FROM session "
        "WHERE worktree = ? AND seen_at BETWEEN ? AND ? AND ended_at IS NULL ORDER BY seen_at DESC LIMIT 20"
    )
    rows = archive.rows(query, worktree, since, now + CLOCK_AHEAD)
    return [WorkingSession(*(*row, parse_json(work or "{}"))) for *row, work in rows]
