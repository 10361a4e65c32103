"""Sessions in the archive: their ids, the read positions of their transcripts."""

from __future__ import annotations

import os
import sys

from unified_state.archive.archive import Archive
from unified_state.errors import NotFoundError
from unified_state.lib.record import Record
from unified_state.lib.times import CLOCK_AHEAD

LOCAL_SESSION = "local"  # the session of commands outside any client session, in the user's own terminal
_RECENT_SESSIONS = 50  # number of sessions among which the parent of a fork is searched
_LARGEST = (1 << 63) - 1


class Cursor(Record):
    """The read position in a transcript file: its session, the byte offset, the turn that is open there."""

    path: str
    session: int
    agent: str | None
    offset: int
    inode: int | None
    turn: int | None


def session_number(archive: Archive, session_id: str) -> int | None:
    """Return the number of a session, or None if it is unknown."""
    return archive.value("SELECT id FROM session WHERE session_id = ?", session_id)


def known_session(archive: Archive, session_id: str) -> int:
    """Return the number of a session. Raises NotFoundError."""
    number = session_number(archive, session_id)
    if number is None:
        message = f"there is no session {session_id[:60]!r} in the archive"
        raise NotFoundError(message, "`unified-state search` names the sessions it finds")
    return number


def session_id_of(archive: Archive, session: int | None) -> str | None:
    """Return the client's id of a session by its number, or None."""
    return archive.value("SELECT session_id FROM session WHERE id = ?", session)


_HAS_TURNS = "EXISTS (SELECT 1 FROM turn WHERE turn.session = session.id)"


def newest_session(archive: Archive, now: int, besides: str = "") -> int | None:
    """Return the session that was active last, except one; None if there is none. One without turns counts only if no
    other has any, and commands in the user's own terminal are no session.
    """
    return _newest(archive, now, besides, _HAS_TURNS) or _newest(archive, now, besides)


def newest_with_transcript(archive: Archive, now: int) -> int | None:
    """Return the session with a transcript that was active last, or None."""
    return _newest(archive, now, "", "id IN (SELECT session FROM transcript)")


def _newest(archive: Archive, now: int, besides: str, condition: str = "1") -> int | None:
    """A time that is missing or still to come is unknown. Of sessions without a known time the last recorded counts."""
    query = (
        f"SELECT id FROM session WHERE session_id NOT IN (?1, ?2) AND {condition} "
        "ORDER BY iif(seen_at > 0 AND seen_at <= ?3, seen_at, 0) DESC, id DESC LIMIT 1"
    )
    return archive.value(query, besides, LOCAL_SESSION, now + CLOCK_AHEAD)


def count_sessions(archive: Archive) -> int:
    """Return the number of sessions, without the user's own terminal."""
    return int(archive.row("SELECT count(*) FROM session WHERE session_id != ?", LOCAL_SESSION)[0])


def session_answered_at(archive: Archive, at: int, slack: int) -> int | None:
    """Return the recently active session whose newest entry is nearest to a time; None if none is within `slack`
    milliseconds.
    """
    query = (
        "SELECT id FROM (SELECT recent.id, abs(?1 - (SELECT max(at) FROM step WHERE turn = (SELECT id FROM turn "
        "WHERE session = recent.id AND agent IS NULL ORDER BY id DESC LIMIT 1))) AS distance FROM "
        "(SELECT id FROM session ORDER BY seen_at DESC LIMIT ?3) AS recent) WHERE distance < ?2 "
        "ORDER BY distance, id LIMIT 1"
    )
    return archive.value(query, at, slack, _RECENT_SESSIONS)


def turns_since(archive: Archive, session: int, at: int) -> int:
    """Return the number of a session's own turns that began after a time."""
    query = "SELECT count(*) FROM turn WHERE session = ? AND agent IS NULL AND at > ?"
    return int(archive.row(query, session, at)[0])


def waiting_for_prompt(archive: Archive, session: int) -> tuple[int, int]:
    """Return two numbers, 1 or 0, for the possible additions to a session's next prompt: changes by other sessions
    since its last check, and a line about its context.
    """
    row: tuple[int, int] = archive.row(
        "SELECT EXISTS (SELECT 1 FROM session JOIN news ON news.id > session.news "
        "AND news.session_id IS NOT session.session_id WHERE session.id = ?1), "
        "EXISTS (SELECT 1 FROM context WHERE session = ?1 AND line NOT NULL)",
        session,
    )
    return row


def touch_session(
    archive: Archive, session_id: str, at: int, *, now: int | None = None, **known: str | int | None
) -> int:
    """Return the number of a session, which is inserted if it is new, and set its last activity to `at`, unless it has
    a later one. At `now`, if given, a later activity than that is not believed. Of a time that is unknown (0) nothing
    is set.

    The `known` columns (worktree, branch, pid, predecessor …) are updated.
    """
    number = session_number(archive, session_id)
    if number is None:
        news = archive.value("SELECT coalesce(max(id), 0) FROM news")
        number = archive.insert("session", session_id=session_id, started_at=at or now, news=news)
    columns = {name: value for name, value in known.items() if value is not None}
    if "branch" in columns:
        columns["branch"] = archive.masked(columns["branch"])
    assignments = "".join(f", {name} = ?" for name in columns)
    believed = "CASE WHEN seen_at <= ? THEN seen_at ELSE 0 END"
    latest = _LARGEST if now is None else now + CLOCK_AHEAD
    change = f"UPDATE session SET seen_at = max(?, {believed}){assignments} WHERE id = ?"
    archive.run(change, at, latest, *columns.values(), number)
    return number


def note_root(archive: Archive, session: int, cwd: str) -> None:
    """Set the folder to which the session's paths are relative: its worktree, else its first folder."""
    root, worktree = archive.row("SELECT root, worktree FROM session WHERE id = ?", session)
    if root is None:
        inside = worktree is not None and f"{cwd}{os.sep}".startswith(f"{worktree}{os.sep}")
        archive.run("UPDATE session SET root = ? WHERE id = ?", worktree if inside else cwd, session)


def root_at_worktree(archive: Archive, session: int) -> None:
    """Set the worktree as the root of a session without one, which came from another store."""
    archive.run("UPDATE session SET root = worktree WHERE id = ? AND root IS NULL AND worktree NOT NULL", session)


def count_tool_calls(archive: Archive, session: int, added: int) -> None:
    """Add to the number of a session's tool calls."""
    if added:
        archive.run("UPDATE session SET tool_calls = tool_calls + ? WHERE id = ?", added, session)


def end_session(archive: Archive, session: int, now: int, reason: str) -> None:
    """Record that the client ended a session, and the reason."""
    archive.run("UPDATE session SET ended_at = ?, end_reason = ? WHERE id = ?", now, archive.masked(reason), session)


def cleared_by(archive: Archive, pid: int | None) -> str | None:
    """Return the session that the same client process left last by /clear, which is a new session's predecessor; or
    None.
    """
    query = "SELECT session_id FROM session WHERE pid = ? AND end_reason = 'clear' ORDER BY ended_at DESC LIMIT 1"
    return archive.value(query, pid)


def session_of_same_client(archive: Archive, session_id: str) -> str:
    """Return the current session of the client that began this one. It differs after /clear or /resume in one
    process.
    """
    query = (
        "SELECT other.session_id FROM session JOIN session AS other ON other.pid = session.pid "
        "AND other.seen_at >= session.seen_at AND coalesce(other.ended_at, 0) < other.seen_at "
        "WHERE session.session_id = ? ORDER BY other.seen_at DESC, other.id DESC LIMIT 1"
    )
    return archive.value(query, session_id) or session_id


def transcripts_of(archive: Archive, session_id: str) -> list[str]:
    """Return the paths of a session's own transcripts. It has another one after the project's folder was moved."""
    where = "session_id = ? AND agent IS NULL"
    query = f"SELECT path FROM transcript JOIN session ON session.id = session WHERE {where}"
    return archive.column(query, session_id)


def read_cursor(archive: Archive, path: str) -> Cursor | None:
    """Return the read position of a transcript, or None if it was never read."""
    row = archive.row(f"SELECT {', '.join(Cursor.names)} FROM transcript WHERE path = ?", path)
    return None if row is None else Cursor(*row)


def move_cursor(archive: Archive, cursor: Cursor) -> None:
    """Store the read position of a transcript."""
    archive.insert("transcript", how="OR REPLACE", **cursor.as_dict())


def recent_transcripts(archive: Archive, limit: int) -> list[tuple[Cursor, str]]:
    """Return the transcripts of the most recently active sessions, each with its session id, the newest first."""
    query = (
        f"SELECT {', '.join(Cursor.names)}, session_id FROM transcript JOIN session ON session.id = session "
        "WHERE session IN (SELECT id FROM session ORDER BY seen_at DESC LIMIT ?) ORDER BY seen_at DESC"
    )
    return [(Cursor(*row), session_id) for *row, session_id in archive.rows(query, limit)]


def is_running(pid: int | None) -> bool:
    """Return whether a client's process may be running: False only if it is known to have ended."""
    if pid is None or sys.platform == "win32":  # on Windows signal 0 is CTRL_C_EVENT
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True  # it belongs to another user, but exists
    return True
