"""Report a session's context, for people and programs. It changes nothing."""

from __future__ import annotations

from collections.abc import Mapping

from unified_state.context.window.context_table import MOST_POINTS, done_compactions, history, transcript_of
from unified_state.context.window.pressure_file import read_pressure
from unified_state.context.window.read_context import new_readings, points_of, watched_now
from unified_state.context.window.rules.context_phase import trend_of
from unified_state.lib.record import Record
from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.cut_outputs import Savings, read_savings
from unified_state.memory.archive.sessions import newest_with_transcript, session_id_of, session_number
from unified_state.memory.workspace.workspace import Workspace
from unified_state.model.context_usage import Point, Reading, Trend, Watched


class Cut(Record):
    """A compaction: its time, the size of the conversation before it, and its trigger."""

    ref: str
    at: int
    pre_tokens: int | None
    trigger: str | None


class ContextReport(Record):
    """The context of one session.

    `reading` is None if there is no answer since the session began or was compacted. `pressure` is the number of levels
    by which outputs are shortened more than chosen.
    """

    session_id: str
    reading: Reading | None
    watched: Watched | None
    trend: Trend
    history: list[Point]
    compactions: list[Cut]
    lean: Savings
    pressure: int


def report_context(workspace: Workspace, environ: Mapping[str, str], now: int) -> ContextReport | None:
    """Return the context of the workspace's session, or of the last active one. Returns None if no session is known."""

    def action(archive: Archive) -> ContextReport | None:
        session_id = workspace.session_id or session_id_of(archive, newest_with_transcript(archive, now))
        session = None if session_id is None else session_number(archive, session_id)
        if session_id is None or session is None:
            return None
        path = transcript_of(archive, session)
        readings = new_readings(archive, session, workspace.place.folder, session_id, path)
        reading = readings[-1] if readings else None
        watched = None if reading is None else watched_now(archive, session, reading, workspace.settings, environ)
        points = {point.turn: point for point in history(archive, session)}
        points |= {point.turn: point for point in points_of(archive, session, readings)}
        newest = sorted(points.values(), key=lambda point: point.turn)[-MOST_POINTS:]
        cuts = [Cut(f"K{number}", at, tokens, why) for number, at, tokens, why in done_compactions(archive, session)]
        since = [point for point in newest if not cuts or point.at >= cuts[-1].at]
        trend = trend_of(since, watched.limit.tokens) if watched is not None else Trend()
        lean = read_savings(archive, session)
        pressure = read_pressure(workspace.place.folder, session_id)
        return ContextReport(session_id, reading, watched, trend, newest, cuts, lean, pressure)

    return workspace.use(action)
