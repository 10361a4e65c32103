"""The context table: how full each session's context is, its phase, and the line for its next prompt."""

from __future__ import annotations

from unified_state.archive.archive import Archive
from unified_state.hosts.generation import end_generation
from unified_state.model.context_usage import OK, UsageRecord

_MOST_SEEN = 5  # recent compactions that show the client's limit, which may have changed since


def keep_watched(archive: Archive, session: int, watched: UsageRecord, line: str | None) -> None:
    """Save the phase of a session. An earlier line for the prompt stays until it is replaced or the cycle ends.

    Call it in a transaction.
    """
    if line is not None:
        end_generation(archive.folder)
    else:
        line = archive.value("SELECT line FROM context WHERE session = ? AND cycle = ?", session, watched.cycle)
    fields = {"tokens": watched.tokens, "reached": watched.reached, "cycle": watched.cycle, "line": line}
    archive.insert("context", how="OR REPLACE", session=session, **fields)


def phase_reached(archive: Archive, session: int, cycle: int) -> str:
    """Return the highest phase that was saved for a session since its compaction `cycle`."""
    return archive.value("SELECT reached FROM context WHERE session = ? AND cycle = ?", session, cycle) or OK


def newest_cut(archive: Archive, session: int) -> tuple[int, int]:
    """Return the number and the time of a session's newest finished compaction, or zeros."""
    row = archive.row(
        "SELECT id, boundary_at FROM compaction WHERE session = ? AND boundary_at NOT NULL ORDER BY id DESC LIMIT 1",
        session,
    )
    return (0, 0) if row is None else (row[0], row[1])


def seen_limits(archive: Archive, session: int, window: int) -> list[int]:
    """Return the sizes at which the client compacted automatically: in this session first, and with such a window."""
    query = (
        "SELECT pre_tokens FROM compaction WHERE trigger = 'auto' AND pre_tokens BETWEEN ?1 / 2 AND ?1 "
        "ORDER BY session = ?2 DESC, id DESC LIMIT ?3"
    )
    return [tokens for (tokens,) in archive.rows(query, window, session, _MOST_SEEN)]


def take_line(archive: Archive, session: int) -> str:
    """Return the line for the prompt once, or "" if the conversation was compacted after it was written."""
    line, cycle = archive.row("SELECT line, cycle FROM context WHERE session = ?", session) or (None, 0)
    if line is None:
        return ""
    with archive.transaction(durable=False):
        archive.run("UPDATE context SET line = NULL WHERE session = ?", session)
    return str(line) if newest_cut(archive, session)[0] == cycle else ""
