"""How full a session's context is now, by whichever tells the newest: the client's status line, or the transcript."""

from __future__ import annotations

from bisect import bisect_right
from itertools import islice

from unified_state.context.window.context_table import history, newest_cut, seen_limits, turn_starts, watched_context
from unified_state.context.window.rules.context_phase import compaction_limit, is_higher, phase_of
from unified_state.context.window.transcript_usage import usages
from unified_state.context.window.usage_file import read_usage
from unified_state.model.context_usage import OK, Limit, Point, Watched

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unified_state.memory.archive.archive import Archive
    from unified_state.model.context_usage import Reading
    from unified_state.settings import Settings


_MOST_READINGS = 1_000  # messages of one stop, or of a session that was not watched before


def new_readings(archive: Archive, session: int, folder: str, session_id: str, transcript_path: str) -> list[Reading]:
    """The last measurement of each message since the history of the session ends, or since the conversation was last
    cut; the newest last. The client knows the window better than we do.
    """
    _, cut_at = newest_cut(archive, session)
    points = history(archive, session)
    since = max(cut_at, points[-1].at - 1 if points else 0)
    told = read_usage(folder, session_id)
    readings = list(islice(usages(transcript_path, since), _MOST_READINGS))
    if told is None:
        return sorted(readings, key=_time)
    readings = [
        reading.replace(window=told.window) if reading.tokens <= told.window else reading for reading in readings
    ]
    return sorted([*readings, *([told] if told.at > since and told.tokens else [])], key=_time)


def points_of(archive: Archive, session: int, readings: Sequence[Reading]) -> list[Point]:
    """The last reading of each of the newest turns."""
    before, starts = turn_starts(archive, session)
    points = {}
    for reading in readings:
        turn = before + bisect_right(starts, reading.at)
        if turn > before or not starts:
            points[turn] = Point(reading.at, max(1, turn), reading.tokens)
    return list(points.values())


def _time(reading: Reading) -> int:
    return reading.at


def watched_now(
    archive: Archive, session: int, reading: Reading, settings: Settings, environ: Mapping[str, str]
) -> Watched:
    """What the newest reading of a session means."""
    cycle, _ = newest_cut(archive, session)
    before = watched_context(archive, session)
    if before is None or before.cycle != cycle:
        before = Watched(reading.window, Limit(0, ""), OK, OK, cycle, before.stale if before else 0)
    limit = compaction_limit(reading.window, seen_limits(archive, session, reading.window), environ)
    phase = phase_of(
        reading.tokens * 100 / limit.tokens, before.phase, (settings.context_warning, settings.context_optimise)
    )
    reached = phase if is_higher(phase, before.reached) else before.reached
    return Watched(reading.window, limit, phase, reached, cycle, before.stale)
