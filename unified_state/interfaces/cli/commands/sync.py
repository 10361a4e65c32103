"""`sync`: bring the team's server up to date with this archive."""

from __future__ import annotations

import os
import time

from unified_state.errors import AlreadyRunningError, MissingExtraError, SettingError
from unified_state.interfaces.cli.command_context import Command, count, flag, option
from unified_state.interfaces.cli.progress import progress_bar
from unified_state.lib.times import current_time
from unified_state.settings import environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.interfaces.cli.command_context import Context
    from unified_state.interfaces.cli.plain_parser import Values
    from unified_state.memory.workspace.workspace import Workspace
    from unified_state.team.sync_server import Server

_PAUSE = 1.0  # seconds for the hook that started the sync to archive the turn
_SECONDS, _AT_MOST = 40.0, 55.0  # the time after which a background run starts nothing new, and its timeout


def _sync(context: Context, arguments: Values) -> None:
    from unified_state.team.sync_server import Limits, sync

    if arguments.background:
        return _sync_in_background(context)
    workspace = context.changing()
    server = _server(workspace)
    with progress_bar("sending"):
        done = sync(workspace, server, current_time, Limits(records=arguments.limit))
    rest = "it has everything" if done.complete else "there is more; sync again"
    vectors = f", and {done.vectors:,} vectors" if done.vectors else ""
    again = "it lost records that it had confirmed, so all are sent again; " if done.again else ""
    text = f"{done.server}: {again}{done.told:,} records sent, {done.new:,} of them new{vectors}; {rest}"
    if done.private:
        items = "item stays" if done.private == 1 else "items stay"
        text += f"; {done.private:,} earlier {items} private until `unified-state server share`"
    return context.show(done.as_dict(), text)


def _server(workspace: Workspace, *, is_own: bool | None = None) -> Server:
    """Return the server of the settings. An error is recorded in the health of the repository first."""
    from unified_state.team.sync_server import note_no_run
    from unified_state.team.team_server import team_server

    try:
        return team_server(workspace, environment(), is_own=is_own)
    except (MissingExtraError, SettingError) as error:
        note_no_run(workspace, error, current_time())
        raise


def _sync_in_background(context: Context) -> None:
    """Sync for at most a minute, and print nothing. The result is recorded in the health of the repository."""
    import faulthandler
    from contextlib import suppress

    # The C-level timer thread ends the process even if it hangs.
    nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # for as long as the process lives
    faulthandler.dump_traceback_later(_AT_MOST, exit=True, file=nowhere)
    end = time.monotonic() + _SECONDS
    time.sleep(_PAUSE)
    from unified_state.team.sync_server import Limits, sync

    workspace = context.workspace(create=False)
    limits = Limits(has_time=lambda: time.monotonic() < end, wait=0)
    server = _server(workspace, is_own=False)
    with suppress(AlreadyRunningError):  # the other run sends the same records
        sync(workspace, server, current_time, limits)


COMMANDS = {
    "sync": Command(
        _sync,
        option("--limit N", "stop once so many records and vectors were sent", type=count),
        flag("--background", "as the end of a turn starts it: at most a minute, and silently"),
    )
}
