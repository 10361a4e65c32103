"""The steps around each use of an archive: changed constraints are enforced after it, and reminders compiled where the
user turned them on.

Hooks pass `SETTLE` to their workspaces, commands, servers and programs `CATCH_UP_AND_SETTLE`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

from unified_state.archive.archive import Archive
from unified_state.archive.sessions import recent_transcripts
from unified_state.hosts.generation import QUIET_FOLDER
from unified_state.lib.times import current_time
from unified_state.project.workspace.workspace import AroundUse, Workspace

_MOST_SESSIONS = 20
_PATIENCE = 1_000  # milliseconds for which a step waits for another writer; the next use tries again


def _catch_up(workspace: Workspace, archive: Archive) -> None:
    """Archive the running turns of sessions whose prompts need no addition: no hook archived these."""
    grown = list(_grown(workspace, archive))
    if not grown:
        return
    from unified_state.capture.running_turns import archive_running_turns

    archive.run(f"PRAGMA busy_timeout = {_PATIENCE}")  # the action itself may have to wait again
    archive_running_turns(archive, workspace, grown, current_time())
    archive.run(f"PRAGMA busy_timeout = {round(workspace.seconds * 1000)}")


def _grown(workspace: Workspace, archive: Archive) -> Iterator[tuple[str, str]]:
    """Yield the transcripts of those sessions that have more than the archive, each with its session."""
    try:
        quiet = os.listdir(os.path.join(workspace.settings.data_dir, QUIET_FOLDER))
    except OSError:
        return  # no hook was ever silent
    for cursor, session_id in recent_transcripts(archive, _MOST_SESSIONS):
        with suppress(OSError):
            if cursor.agent is None and session_id in quiet and os.stat(cursor.path).st_size > cursor.offset:
                yield cursor.path, session_id


def _settle(workspace: Workspace, archive: Archive) -> None:
    """Compile what is enforced and told before tool calls, where it may have changed."""
    from unified_state.constraints.compile_constraints import settle

    settle(archive, workspace)


SETTLE = AroundUse(settle=_settle)
CATCH_UP_AND_SETTLE = AroundUse(settle=_settle, catch_up=_catch_up)
