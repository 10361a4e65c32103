"""The last known fill of a session's context, from the archive alone: `status` prints it in one line.

`status` is run often, so this loads none of what measures a context.
"""

from __future__ import annotations

from unified_state.lib.record import Record
from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.sessions import newest_with_transcript


class LastContext(Record):
    """The newest reading of a session since its last compaction, the limit in tokens at which the client compacts, and
    the phase.
    """

    session_id: str
    tokens: int
    compacts_at: int
    phase: str


_NEWEST = """
    SELECT session.session_id, point.tokens, context.compacts_at, context.phase
    FROM session
    JOIN context ON context.session = session.id
    JOIN context_point AS point ON point.session = session.id
    LEFT JOIN compaction AS cut ON cut.id = (
        SELECT max(id) FROM compaction WHERE compaction.session = session.id AND compaction.boundary_at NOT NULL
    )
    WHERE session.id = ? AND context.cycle = coalesce(cut.id, 0) AND point.at >= coalesce(cut.boundary_at, 0)
    ORDER BY point.turn DESC LIMIT 1
"""


def last_context(archive: Archive, now: int) -> LastContext | None:
    """Return the context of the session that was last active. None if none was read since it was compacted."""
    row = archive.row(_NEWEST, newest_with_transcript(archive, now))
    return None if row is None else LastContext(*row)
