"""The last known fill of a session's context, from the archive alone: `status` prints it in one line."""

from __future__ import annotations

from unified_state.context.window.context_table import history, newest_cut, watched_context
from unified_state.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.archive.archive import Archive


class LastContext(Record):
    """The newest reading of a session since its last compaction, the limit in tokens at which the client compacts, and
    the phase.
    """

    session_id: str
    tokens: int
    compacts_at: int
    phase: str


def last_context(archive: Archive) -> LastContext | None:
    """Return the context of the session that was last active. None if none was read since it was compacted."""
    row = archive.row(
        "SELECT id, session_id FROM session WHERE id IN (SELECT session FROM transcript) ORDER BY seen_at DESC LIMIT 1"
    )
    if row is None:
        return None
    session, session_id = row
    watched = watched_context(archive, session)
    cycle, cut_at = newest_cut(archive, session)
    points = [point for point in history(archive, session) if point.at >= cut_at]
    if watched is None or watched.cycle != cycle or not points:
        return None
    return LastContext(session_id, points[-1].tokens, watched.limit.tokens, watched.phase)
