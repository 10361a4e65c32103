"""How full a session's context is now, by whichever tells the newest: the client's status line, or the transcript."""

from __future__ import annotations

from unified_state.records.context import OK, Limit, Reading, Watched
from unified_state.rules.context_limit import compaction_limit
from unified_state.rules.context_phase import is_higher, phase_of
from unified_state.sources.last_usage import last_usage
from unified_state.storage.context import newest_cut, seen_limits, watched_context
from unified_state.storage.usage_file import read_usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from unified_state.settings import Settings
    from unified_state.storage.archive import Archive


def current_reading(
    archive: Archive, session: int, folder: str, session_id: str, transcript_path: str
) -> Reading | None:
    """The newest measurement since the conversation was last cut; the client knows the window better than we do."""
    _, cut_at = newest_cut(archive, session)
    told = read_usage(folder, session_id)
    readings = [reading for reading in (told, last_usage(transcript_path)) if reading is not None]
    usable = [reading for reading in readings if reading.tokens > 0 and reading.at >= cut_at]
    if not usable:
        return None
    newest = max(usable, key=lambda reading: reading.at)
    return newest.replace(window=told.window) if told is not None and told.window >= newest.tokens else newest


def watched_now(
    archive: Archive, session: int, reading: Reading, settings: Settings, environ: Mapping[str, str]
) -> Watched:
    """What a reading means: where the client compacts, and the phase, which begins anew with each compaction."""
    cycle, _ = newest_cut(archive, session)
    before = watched_context(archive, session)
    if before is None or before.cycle != cycle:
        before = Watched(reading.window, Limit(0, ""), OK, OK, cycle, before.stale if before else 0)
    limit = compaction_limit(reading.window, seen_limits(archive, session, reading.window), environ)
    phase = phase_of(reading.tokens * 100 / limit.tokens, before.phase, thresholds(settings))
    reached = phase if is_higher(phase, before.reached) else before.reached
    return Watched(reading.window, limit, phase, reached, cycle, before.stale)


def thresholds(settings: Settings) -> tuple[int, int]:
    """The percentages of the limit at which the phases begin."""
    return settings.context_warning, settings.context_optimise
