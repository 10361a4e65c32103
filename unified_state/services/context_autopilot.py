"""The context autopilot: at each Stop it notes how full the context is; at each new phase it saves the state, and
leaves one line for the next prompt. A phase counts once between two compactions.
"""

from __future__ import annotations

from unified_state.records.context import OK
from unified_state.rules.context_lines import told_line
from unified_state.rules.context_phase import is_higher, trend_of
from unified_state.services.context_reading import new_readings, points_of
from unified_state.services.context_watching import watched_now
from unified_state.services.staleness import count_stale
from unified_state.storage.context import history, keep_point, keep_watched, watched_context
from unified_state.storage.sessions import session_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.services.hook_call import HookCall
    from unified_state.storage.archive import Archive


def watch_context(call: HookCall, archive: Archive) -> None:
    """Note where the context stands after a turn, and do what its phase asks for."""
    event, place = call.event, call.workspace.place
    session = session_number(archive, event.session_id)
    if session is None or event.agent_id:
        return
    readings = new_readings(archive, session, place.folder, event.session_id, event.transcript_path)
    if not readings:
        return
    reading = readings[-1]
    before = watched_context(archive, session)
    watched = watched_now(archive, session, reading, call.settings, call.environ)
    watched = watched.replace(stale=count_stale(archive, place.repository.worktree))
    with archive.transaction(durable=False):
        for point in points_of(archive, session, readings):
            keep_point(archive, session, point)
    reached_before = before.reached if before is not None and before.cycle == watched.cycle else OK
    line = None
    if is_higher(watched.reached, reached_before):
        _checkpoint(call, archive)
        line = told_line(reading, watched.limit.tokens, trend_of(history(archive, session), watched.limit.tokens))
    with archive.transaction(durable=False):
        keep_watched(archive, session, watched, line)


def _checkpoint(call: HookCall, archive: Archive) -> None:
    """Save the state with git, as before a compaction."""
    from unified_state.services.checkpointing import save_checkpoint
    from unified_state.sources.git import start_git

    save_checkpoint(call, archive, "threshold", start_git(call.workspace.place.repository.worktree, call.environ)())
