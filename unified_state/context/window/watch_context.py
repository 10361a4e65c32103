"""What a reading of the context means: where the client compacts, and the phase, which begins anew with each
compaction.
"""

from __future__ import annotations

from unified_state.context.window.context_table import newest_cut, seen_limits, watched_context
from unified_state.context.window.rules.context_limit import compaction_limit
from unified_state.context.window.rules.context_phase import is_higher, phase_of
from unified_state.model.context_usage import OK, Limit, Watched

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from unified_state.memory.archive.archive import Archive
    from unified_state.model.context_usage import Reading
    from unified_state.settings import Settings


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
