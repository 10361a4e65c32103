"""Notes of sessions: highlights, pending actions and the agent's to-do list.

A to-do entry is a note with a key and a state. Only the current list is stored; its history is in the archived steps.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unified_state.memory.archive.archive import Archive
    from unified_state.model.item import Todo

TODO = "todo"  # the kind of these notes
_OPEN = ("pending", "in_progress")


def add_notes(archive: Archive, session: int | None, kind: str, texts: Iterable[str], at: str) -> None:
    """Add highlights or pending actions; none is ever deleted."""
    for text in texts:
        archive.run(
            "INSERT INTO note (session, kind, text, at) VALUES (?, ?, ?, ?)", session, kind, archive.masked(text), at
        )


def close_notes(archive: Archive, session: int, kind: str, at: str) -> None:
    """Close the notes of a kind, of the session and those adopted from a file, before a newer list is added."""
    archive.run(
        "UPDATE note SET done_at = ? WHERE (session = ? OR session IS NULL) AND kind = ? AND done_at IS NULL",
        at,
        session,
        kind,
    )


def replace_next_steps(archive: Archive, session: int, compaction: int, texts: Iterable[str], at: str) -> None:
    """Replace the next steps of earlier summaries by those in a compaction's summary, as pending actions.

    A step that is already pending is not added twice. A summary without next steps changes nothing.
    """
    steps = {text.casefold(): text for text in map(archive.masked, texts)}
    if not steps:
        return
    rows = archive.rows(
        "SELECT id, text, compaction FROM note WHERE (session = ? OR session IS NULL) AND kind = 'action' "
        "AND done_at IS NULL",
        session,
    )
    for number, text, read_from in rows:
        if steps.pop(text.casefold(), None) is None and read_from is not None:
            archive.run("UPDATE note SET done_at = ? WHERE id = ?", at, number)
    for text in steps.values():
        archive.run(
            "INSERT INTO note (session, kind, text, at, compaction) VALUES (?, 'action', ?, ?, ?)",
            session,
            text,
            at,
            compaction,
        )


def open_notes(archive: Archive, session: int | None, kind: str, limit: int) -> tuple[str, ...]:
    """Return the newest notes of a session and of no session, in order."""
    rows = archive.rows(
        "SELECT text FROM note WHERE (session = ? OR session IS NULL) AND kind = ? AND done_at IS NULL "
        "ORDER BY id DESC LIMIT ?",
        session,
        kind,
        limit,
    )
    return tuple(row[0] for row in reversed(rows))


def replace_todos(archive: Archive, session: int, todos: Sequence[Todo], at: str) -> None:
    """Replace the to-do list of a session."""
    archive.run("DELETE FROM note WHERE session = ? AND kind = ?", session, TODO)
    for todo in todos:
        _add_todo(archive, session, todo, at)


def change_todo(archive: Archive, session: int, todo: Todo, at: str) -> None:
    """Add an entry of a session's to-do list, or change its state or text."""
    changed = archive.run(
        "UPDATE note SET text = coalesce(?1, text), state = coalesce(?2, state), "
        "done_at = CASE WHEN coalesce(?2, state) IN ('pending', 'in_progress') THEN NULL ELSE ?3 END "
        "WHERE id = (SELECT max(id) FROM note WHERE session = ?4 AND kind = ?5 AND key = ?6)",
        todo.text,
        todo.state,
        at,
        session,
        TODO,
        todo.key,
    )
    if not changed and todo.text:
        _add_todo(archive, session, todo, at)


def forget_todos(archive: Archive, session: int, texts: set[str]) -> None:
    """Delete the entries with one of these texts from a session's list."""
    for text in texts:
        archive.run("DELETE FROM note WHERE session = ? AND kind = ? AND text = ?", session, TODO, text)


def pending_actions(archive: Archive, session: int | None, limit: int) -> tuple[str, ...]:
    """Return the pending actions of a session: the open entries of its list, each with its state, then other notes."""
    rows = archive.rows(
        "SELECT state, text FROM note WHERE session = ? AND kind = ? AND done_at IS NULL ORDER BY id LIMIT ?",
        session,
        TODO,
        limit,
    )
    listed = tuple(f"[{state.replace('_', ' ')}] {text}" for state, text in rows)
    return listed + open_notes(archive, session, "action", limit - len(listed))


def _add_todo(archive: Archive, session: int, todo: Todo, at: str) -> None:
    archive.run(
        "INSERT INTO note (session, kind, text, at, done_at, key, state) VALUES (?, ?, ?, ?, ?, ?, ?)",
        session,
        TODO,
        todo.text,
        at,
        None if todo.state in _OPEN else at,
        todo.key,
        todo.state,
    )
