"""`sync`: bring the team's server up to date with this archive."""

from __future__ import annotations

import os
import time

from unified_state.errors import AlreadyRunningError, MissingExtraError, SettingError
from unified_state.interfaces.cli.arguments import count
from unified_state.interfaces.cli.command_context import Context
from unified_state.lib.times import current_time
from unified_state.settings import environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from unified_state.team.sync_server import Synced

_PAUSE = 1.0  # seconds in which the hook that began it archives the turn
_SECONDS, _AT_MOST = 40.0, 55.0  # when a run in the background begins nothing new, and when it ends in any case


def configure(_name: str, parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--limit", type=count, metavar="N", help="stop once so many records and vectors were sent")
    parser.add_argument(
        "--background", action="store_true", help="as the end of a turn starts it: at most a minute, and silently"
    )
    parser.set_defaults(run=_sync)


def _sync(arguments: Namespace) -> int:
    if arguments.background:
        return _sync_in_background()
    from unified_state.team.sync_server import Limits, note_no_run, sync
    from unified_state.team.team_server import team_server

    context = Context(as_json=arguments.json)
    workspace = context.reading()
    try:
        server = team_server(workspace, environment())
    except (MissingExtraError, SettingError) as error:
        note_no_run(workspace, error, current_time())
        raise
    done = sync(workspace, server, current_time, Limits(records=arguments.limit))
    context.show(done.as_dict(), _told(done))
    return 0


def _told(done: Synced) -> str:
    rest = "it has everything" if done.complete else "there is more; sync again"
    vectors = f", and {done.vectors:,} vectors" if done.vectors else ""
    again = "it had lost what it was told, so all is sent again; " if done.again else ""
    return f"{done.server}: {again}{done.told:,} records sent, {done.new:,} of them new{vectors}; {rest}"


def _sync_in_background() -> int:
    """Nobody reads what it prints: how it ended is in the health of the repository."""
    import faulthandler
    from contextlib import suppress

    # A thread of C's ends the process, whatever it hangs in.
    nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # for as long as the process lives
    faulthandler.dump_traceback_later(_AT_MOST, exit=True, file=nowhere)
    end = time.monotonic() + _SECONDS
    time.sleep(_PAUSE)
    from unified_state.team.sync_server import Limits, note_no_run, sync
    from unified_state.team.team_server import team_server

    workspace = Context(as_json=False).workspace(create=False)
    limits = Limits(has_time=lambda: time.monotonic() < end, wait=0)
    try:
        server = team_server(workspace, environment(), is_own=False)
    except (MissingExtraError, SettingError) as error:
        note_no_run(workspace, error, current_time())
        raise
    with suppress(AlreadyRunningError):  # it sends what there is
        sync(workspace, server, current_time, limits)
    return 0
