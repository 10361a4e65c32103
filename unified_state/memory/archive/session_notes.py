"""The agent's list of what is to be done, as notes of its session that have a key and a state. Only the
list as it stands now is kept: how it came to be is in the archived steps.
"""

from __future__ import annotations

from unified_state.memory.archive.sessions import open_notes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from unified_state.memory.archive.archive import Archive
    from unified_state.model.item import Todo

TODO = "todo"  # the kind of these notes
_OPEN = ("pending", "in_progress")


def replace_todos(archive: Archive, session: int, todos: Sequence[Todo], at: str) -> None:
    """The session's list is another one now."""
    archive.run("DELETE FROM note WHERE session = ? AND kind = ?", session, TODO)
    for todo in todos:
        _add_todo(archive, session, todo, at)


def change_todo(archive: Archive, session: int, todo: Todo, at: str) -> None:
    """An entry of the session's list was added, or has another state or other words."""
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
    """Take the entries with one of these texts out of a session's list."""
    for number, text in archive.rows("SELECT id, text FROM note WHERE session = ? AND kind = ?", session, TODO):
        if text in texts:
            archive.run("DELETE FROM note WHERE id = ?", number)


def pending_actions(archive: Archive, session: int | None, limit: int) -> tuple[str, ...]:
    """What a session has still to do: its list in order, verbatim, each entry with its state; then what was noted
    otherwise.
    """
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
