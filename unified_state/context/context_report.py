"""Report a session's context, for people and programs. It changes nothing."""

from __future__ import annotations

from collections.abc import Mapping

from unified_state.archive.archive import Archive
from unified_state.archive.cut_outputs import Savings, read_savings
from unified_state.archive.sessions import newest_with_transcript, session_id_of, session_number, transcripts_of
from unified_state.context.read_context import newest_reading, watched_now
from unified_state.lib.record import Record
from unified_state.model.context_usage import Reading, UsageRecord
from unified_state.project.workspace.workspace import Workspace

_DONE = """
SELECT 'K' || id, boundary_at, pre_tokens, trigger FROM compaction
WHERE session = ? AND boundary_at NOT NULL ORDER BY id
"""


class CompactionPoint(Record):
    """A compaction: its time, the size of the conversation before it, and its trigger."""

    ref: str
    at: int
    pre_tokens: int | None
    trigger: str | None


class ContextReport(Record):
    """The context of one session. `reading` is None if there is no answer since it began or was compacted."""

    session_id: str
    reading: Reading | None
    watched: UsageRecord | None
    compactions: list[CompactionPoint]
    lean: Savings


def report_context(workspace: Workspace, environ: Mapping[str, str], now: int) -> ContextReport | None:
    """Return the context of the workspace's session, or of the last active one. Returns None if no session is known."""

    def action(archive: Archive) -> ContextReport | None:
        session_id = workspace.session_id or session_id_of(archive, newest_with_transcript(archive, now))
        session = None if session_id is None else session_number(archive, session_id)
        if session_id is None or session is None:
            return None
        path = next(iter(transcripts_of(archive, session_id)), "")
        reading = newest_reading(archive, session, workspace.place.folder, session_id, path)
        project = workspace.place.repository.worktree
        watched = None
        if reading is not None:
            watched = watched_now(archive, session, reading, workspace.settings, project, environ)
        cuts = [CompactionPoint(*row) for row in archive.rows(_DONE, session)]  # the oldest first
        return ContextReport(session_id, reading, watched, cuts, read_savings(archive, session))

    return workspace.use(action)
