"""Sessions in the archive: who they are, how far their transcripts are read, what they work on."""

from __future__ import annotations

import os

from unified_state.lib.record import Record
from unified_state.lib.stdlib import dump_json, parse_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from unified_state.memory.archive.archive import Archive


LOCAL_SESSION = "local"  # stands for what is done outside any client session, in the user's own terminal
_RECENT_SESSIONS = 50  # among which the parent of a fork is looked for
STAND_IN = "before the damage"  # the name of rows that only hold the numbers that were given


class Cursor(Record):
    """How far a transcript file has been read: the session it belongs to, the byte offset, the turn that is open
    there.
    """

    path: str
    session: int
    agent: str | None
    offset: int
    inode: int | None
    turn: int | None


class WorkingSession(Record):
    """A session that is alive: `work` as `change_work` left it."""

    number: int
    session_id: str
    seen_at: int
    pid: int | None
    tool_calls: int
    work: dict[str, Any]


def session_number(archive: Archive, session_id: str) -> int | None:
    """The number of a session that is known, or None."""
    return archive.value("SELECT id FROM session WHERE session_id = ?", session_id)


def session_id_of(archive: Archive, session: int | None) -> str | None:
    """The client's id of a session that is known by its number, or None."""
    row = archive.row("SELECT session_id FROM session WHERE id = ?", session)
    return None if row is None else row[0]


def newest_other_session(archive: Archive, session_id: str) -> int | None:
    """The session that was seen last, but for one; None if there is none."""
    row = archive.row("SELECT id FROM session WHERE session_id != ? ORDER BY seen_at DESC LIMIT 1", session_id)
    return None if row is None else row[0]


def count_sessions(archive: Archive) -> int:
    """How many sessions there were, without the row that only holds numbers."""
    return int(archive.row("SELECT count(*) FROM session WHERE session_id != ?", STAND_IN)[0])


def session_answered_at(archive: Archive, at: int, slack: int) -> int | None:
    """The session, of those seen last, whose newest entry was written nearest to a time; None if none within `slack`
    milliseconds.
    """
    row = archive.row(
        "SELECT id FROM (SELECT recent.id, abs(?1 - (SELECT max(at) FROM step WHERE turn = (SELECT id FROM turn "
        "WHERE session = recent.id AND agent IS NULL ORDER BY id DESC LIMIT 1))) AS distance FROM "
        "(SELECT id FROM session ORDER BY seen_at DESC LIMIT ?3) AS recent) WHERE distance < ?2 "
        "ORDER BY distance, id LIMIT 1",
        at,
        slack,
        _RECENT_SESSIONS,
    )
    return None if row is None else row[0]


def turns_since(archive: Archive, session: int, at: int) -> int:
    """How many turns of a session itself began after a time."""
    query = "SELECT count(*) FROM turn WHERE session = ? AND agent IS NULL AND at > ?"
    return int(archive.row(query, session, at)[0])


def waiting_for_prompt(archive: Archive, session: int) -> tuple[int, int, int]:
    """Return 1 or 0 for each of what a session's next prompt may be told: changes of other sessions since it looked
    last, attempts that failed, and a line about its context.
    """
    row: tuple[int, int, int] = archive.row(
        "SELECT EXISTS (SELECT 1 FROM session JOIN news ON news.id > session.news "
        "AND news.session_id IS NOT session.session_id WHERE session.id = ?1), "
        "EXISTS (SELECT 1 FROM item WHERE kind = 'attempt' AND status = 'active'), "
        "EXISTS (SELECT 1 FROM context WHERE session = ?1 AND line NOT NULL)",
        session,
    )
    return row


def touch_session(archive: Archive, session_id: str, now: int, **known: str | int | None) -> int:
    """The number of a session, made if it is new; `known` columns (worktree, branch, pid, predecessor …) are filled
    in.
    """
    number = session_number(archive, session_id)
    if number is None:
        archive.run(
            "INSERT INTO session (session_id, started_at, seen_at, news) "
            "VALUES (?, ?, ?, (SELECT coalesce(max(id), 0) FROM news))",
            session_id,
            now,
            now,
        )
        number = session_number(archive, session_id)
        assert number is not None  # noqa: S101  # it was inserted in the line above
    columns = {name: value for name, value in known.items() if value is not None}
    if "branch" in columns:
        columns["branch"] = archive.masked(columns["branch"])
    assignments = "".join(f", {name} = ?" for name in columns)
    archive.run(
        f"UPDATE session SET seen_at = max(coalesce(seen_at, 0), ?){assignments} WHERE id = ?",
        now,
        *columns.values(),
        number,
    )
    return number


def note_root(archive: Archive, session: int, cwd: str) -> None:
    """Note the folder to which the session's paths are relative: its worktree, else where it began."""
    root, worktree = archive.row("SELECT root, worktree FROM session WHERE id = ?", session)
    if root is None:
        inside = worktree is not None and f"{cwd}{os.sep}".startswith(f"{worktree}{os.sep}")
        archive.run("UPDATE session SET root = ? WHERE id = ?", worktree if inside else cwd, session)


def root_at_worktree(archive: Archive, session: int) -> None:
    """Where a session's paths are relative to is not known for one that came from elsewhere: its worktree."""
    archive.run("UPDATE session SET root = worktree WHERE id = ? AND root IS NULL AND worktree NOT NULL", session)


def count_tool_calls(archive: Archive, session: int, added: int) -> None:
    """Count the tool calls of a session."""
    if added:
        archive.run("UPDATE session SET tool_calls = tool_calls + ? WHERE id = ?", added, session)


def end_session(archive: Archive, session: int, now: int, reason: str) -> None:
    """Note that the client ended a session, and why."""
    archive.run("UPDATE session SET ended_at = ?, end_reason = ? WHERE id = ?", now, archive.masked(reason), session)


def cleared_by(archive: Archive, pid: int | None) -> str | None:
    """The session that the same client process left by /clear just before, to which a new one is the successor."""
    if pid is None:
        return None
    return archive.value(
        "SELECT session_id FROM session WHERE pid = ? AND end_reason = 'clear' ORDER BY ended_at DESC LIMIT 1", pid
    )


def session_of_same_client(archive: Archive, session_id: str) -> str:
    """The session that the client is in which began this one: another one after /clear or /resume, in one process."""
    row = archive.row(
        "SELECT other.session_id FROM session JOIN session AS other ON other.pid = session.pid "
        "AND other.seen_at >= session.seen_at AND coalesce(other.ended_at, 0) < other.seen_at "
        "WHERE session.session_id = ? ORDER BY other.seen_at DESC, other.id DESC LIMIT 1",
        session_id,
    )
    return session_id if row is None else str(row[0])


def transcripts_of(archive: Archive, session_id: str) -> list[str]:
    """The files of a session's own transcript; it is another one after the project's folder was moved."""
    return archive.column(
        "SELECT path FROM transcript JOIN session ON session.id = session WHERE session_id = ? AND agent IS NULL",
        session_id,
    )


def read_cursor(archive: Archive, path: str) -> Cursor | None:
    """How far a transcript was read, or None if it was never seen."""
    row = archive.row("SELECT path, session, agent, offset, inode, turn FROM transcript WHERE path = ?", path)
    return None if row is None else Cursor(*row)


def move_cursor(archive: Archive, cursor: Cursor) -> None:
    """Remember how far a transcript was read."""
    archive.run(
        "INSERT OR REPLACE INTO transcript VALUES (?, ?, ?, ?, ?, ?)",
        cursor.path,
        cursor.session,
        cursor.agent,
        cursor.offset,
        cursor.inode,
        cursor.turn,
    )


def recent_transcripts(archive: Archive, limit: int) -> list[tuple[Cursor, str]]:
    """The transcripts of the sessions that were alive last, each with its session id, the newest first."""
    rows = archive.rows(
        "SELECT path, session, agent, offset, inode, turn, session_id FROM "
        "(SELECT id, session_id, seen_at FROM session ORDER BY seen_at DESC LIMIT ?) AS recent "
        "JOIN transcript ON transcript.session = recent.id ORDER BY recent.seen_at DESC",
        limit,
    )
    return [(Cursor(*row[:6]), row[6]) for row in rows]


def read_work(archive: Archive, session: int) -> dict[str, Any]:
    """What a session works on, as `change_work` left it."""
    row = archive.row("SELECT work FROM session WHERE id = ?", session)
    return parse_json(row[0]) if row and row[0] else {}


def change_work(archive: Archive, session: int, changes: dict[str, Any]) -> None:
    """Change what a session works on; other fields stay."""
    work = archive.masked({**read_work(archive, session), **changes})
    archive.run("UPDATE session SET work = ? WHERE id = ?", dump_json(work), session)


def working_sessions(archive: Archive, worktree: str, since: int) -> list[WorkingSession]:
    """The sessions of a worktree that were seen since then and have not ended, the newest first."""
    rows = archive.rows(
        "SELECT id, session_id, seen_at, pid, tool_calls, work FROM session "
        "WHERE worktree = ? AND seen_at >= ? AND ended_at IS NULL ORDER BY seen_at DESC LIMIT 20",
        worktree,
        since,
    )
    return [
        WorkingSession(
            number=number,
            session_id=session_id,
            seen_at=seen_at,
            pid=pid,
            tool_calls=tool_calls,
            work=parse_json(work) if work else {},
        )
        for number, session_id, seen_at, pid, tool_calls, work in rows
    ]
