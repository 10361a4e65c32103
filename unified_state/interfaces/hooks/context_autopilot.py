"""The context autopilot: at each Stop it notes how full the context is; at each new phase it saves the state, and
leaves one line for the next prompt. A phase counts once between two compactions. As the context fills up, long outputs
are shortened more.
"""

from __future__ import annotations

from unified_state.context.lean.rules.lean_pressure import pressure_of
from unified_state.context.window.context_table import history, keep_point, keep_watched, watched_context
from unified_state.context.window.pressure_file import keep_pressure, read_pressure
from unified_state.context.window.read_context import new_readings, points_of
from unified_state.context.window.rules.context_lines import told_line
from unified_state.context.window.rules.context_phase import is_higher, trend_of
from unified_state.context.window.watch_context import watched_now
from unified_state.memory.archive.sessions import session_number
from unified_state.memory.ledger.count_stale import count_stale
from unified_state.model.context_usage import OK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.interfaces.hooks.hook_call import HookCall
    from unified_state.memory.archive.archive import Archive
    from unified_state.model.context_usage import Trend


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
    trend = trend_of(history(archive, session), watched.limit.tokens)
    _lean(call, reading.tokens * 100 / watched.limit.tokens, trend)
    if is_higher(watched.reached, reached_before):
        _checkpoint(call, archive)
        line = told_line(reading, watched.limit.tokens, trend)
    with archive.transaction(durable=False):
        keep_watched(archive, session, watched, line)


def _lean(call: HookCall, percent: float, trend: Trend) -> None:
    """Say how much tighter long outputs are to be shortened until the next turn ends."""
    folder, session_id = call.workspace.place.folder, call.event.session_id
    before = read_pressure(folder, session_id)
    pressure = pressure_of(percent, trend.turns_left, before)
    if pressure != before:
        keep_pressure(folder, session_id, pressure)


def _checkpoint(call: HookCall, archive: Archive) -> None:
    """Save the state with git, as before a compaction."""
    from unified_state.interfaces.hooks.checkpoint import save_checkpoint
    from unified_state.memory.repository.git_state import start_git

    save_checkpoint(call, archive, "threshold", start_git(call.workspace.place.repository.worktree, call.environ)())
