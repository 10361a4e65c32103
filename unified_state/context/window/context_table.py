"""The context tables: the history of each session, its last phase, and the line for its next prompt."""

from __future__ import annotations

from unified_state.memory.archive.archive import Archive
from unified_state.memory.quiet.generation import end_generation
from unified_state.model.context_usage import Limit, Point, Watched

MOST_POINTS = 50
_MOST_SEEN = 5  # recent compactions that show the client's limit, which may have changed since


def keep_point(archive: Archive, session: int, point: Point) -> None:
    """Add a point to a session's history, one for each turn, and delete points beyond the limit."""
    archive.run("INSERT OR REPLACE INTO context_point VALUES (?, ?, ?, ?)", session, point.at, point.turn, point.tokens)
    archive.run(
        "DELETE FROM context_point WHERE session = ? AND turn NOT IN "
        "(SELECT turn FROM context_point WHERE session = ? ORDER BY turn DESC LIMIT ?)",
        session,
        session,
        MOST_POINTS,
    )


def history(archive: Archive, session: int) -> list[Point]:
    """Return the history of a session, the oldest point first."""
    rows = archive.rows("SELECT at, turn, tokens FROM context_point WHERE session = ? ORDER BY turn", session)
    return [Point(*row) for row in rows]


def keep_watched(archive: Archive, session: int, watched: Watched, line: str | None) -> None:
    """Save the phase of a session. An earlier line for the prompt stays until it is replaced or the cycle ends.

    Call it in a transaction.
    """
    if line is not None:
        end_generation(archive.folder)
    archive.run(
        "INSERT INTO context VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (session) DO UPDATE SET "
        "window = excluded.window, compacts_at = excluded.compacts_at, known_from = excluded.known_from, "
        "phase = excluded.phase, reached = excluded.reached, stale = excluded.stale, "
        "line = coalesce(excluded.line, CASE WHEN cycle = excluded.cycle THEN line END), cycle = excluded.cycle",
        session,
        watched.window,
        watched.limit.tokens,
        watched.limit.known_from,
        watched.phase,
        watched.reached,
        watched.cycle,
        watched.stale,
        line,
    )


def watched_context(archive: Archive, session: int) -> Watched | None:
    """Return the last saved phase of a session."""
    row = archive.row(
        "SELECT window, compacts_at, known_from, phase, reached, cycle, stale FROM context WHERE session = ?", session
    )
    return None if row is None else Watched(row[0], Limit(row[1], row[2]), *row[3:])


def newest_cut(archive: Archive, session: int) -> tuple[int, int]:
    """Return the number and the time of a session's newest finished compaction, or zeros."""
    row = archive.row(
        "SELECT id, boundary_at FROM compaction WHERE session = ? AND boundary_at NOT NULL ORDER BY id DESC LIMIT 1",
        session,
    )
    return (0, 0) if row is None else (row[0], row[1])


def done_compactions(archive: Archive, session: int) -> list[tuple[int, int, int | None, str | None]]:
    """Return the finished compactions of a session: number, time, size before, trigger. The oldest is first."""
    return archive.rows(
        "SELECT id, boundary_at, pre_tokens, trigger FROM compaction "
        "WHERE session = ? AND boundary_at NOT NULL ORDER BY id",
        session,
    )


def seen_limits(archive: Archive, session: int, window: int) -> list[int]:
    """Return the sizes at which the client compacted automatically: in this session, or else with this window."""
    newest = "ORDER BY id DESC LIMIT ?"
    own = archive.rows(
        "SELECT pre_tokens FROM compaction WHERE session = ? AND trigger = 'auto' AND pre_tokens BETWEEN 1 AND ? "
        + newest,
        session,
        window,
        _MOST_SEEN,
    )
    others = own or archive.rows(
        "SELECT pre_tokens FROM compaction WHERE trigger = 'auto' AND pre_tokens BETWEEN 1 AND ? "
        "AND session IN (SELECT session FROM context WHERE window = ?) " + newest,
        window,
        window,
        _MOST_SEEN,
    )
    return [tokens for (tokens,) in others]


def turn_starts(archive: Archive, session: int) -> tuple[int, list[int]]:
    """Return the number of turns before the newest ones of a session, and the start times of those."""
    own = "FROM turn WHERE session = ? AND agent IS NULL "
    newest = archive.rows(f"SELECT at {own} ORDER BY id DESC LIMIT ?", session, MOST_POINTS)
    count: int = archive.row(f"SELECT count(*) {own}", session)[0]
    return count - len(newest), sorted(at for (at,) in newest)


def transcript_of(archive: Archive, session: int) -> str:
    """Return the path of a session's own transcript, or "" if it is unknown."""
    row = archive.row("SELECT path FROM transcript WHERE session = ? AND agent IS NULL LIMIT 1", session)
    return "" if row is None else str(row[0])


def take_line(archive: Archive, session: int) -> str:
    """Return the line for the prompt once, or "" if the conversation was compacted after it was written."""
    line, cycle = archive.row("SELECT line, cycle FROM context WHERE session = ?", session) or (None, 0)
    if line is None:
        return ""
    with archive.transaction(durable=False):
        archive.run("UPDATE context SET line = NULL WHERE session = ?", session)
    return str(line) if newest_cut(archive, session)[0] == cycle else ""
