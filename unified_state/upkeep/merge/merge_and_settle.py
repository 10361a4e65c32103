"""Steps around each use of an archive: merge waiting journals before, enforce changed constraints after, and compile
the reminders where the user turned them on.

The entry points pass one of these functions to their workspaces, so lower layers do not depend on merging, capture,
enforcement or reminders: hooks pass `merge_and_settle`, commands, servers and programs `drain_and_settle`.
"""

from __future__ import annotations

import os

from unified_state.lib.times import current_time
from unified_state.memory.archive.archive import read_enforcement
from unified_state.memory.repository.place import has_reminders
from unified_state.memory.spool.hook_files import ENDING, PENDING_FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.workspace.workspace import Workspace

    T = TypeVar("T")


_PATIENCE = 1_000  # milliseconds for which a merge waits for another writer; the next use tries again


def drain_and_settle(workspace: Workspace, archive: Archive, action: Callable[[Archive], T]) -> T:
    """Do as `merge_and_settle`, but first archive the turns whose prompts a hook only kept."""
    if workspace.journal is None and workspace.settings.enabled and _has_spool(archive.folder):
        from unified_state.capture.drain_spool import drain_spool

        archive.run(f"PRAGMA busy_timeout = {_PATIENCE}")
        drain_spool(archive, workspace, current_time())
        archive.run(f"PRAGMA busy_timeout = {round(workspace.seconds * 1000)}")
    return merge_and_settle(workspace, archive, action)


def _has_spool(folder: str) -> bool:
    try:
        return any(name.endswith(ENDING) for name in os.listdir(os.path.join(folder, PENDING_FOLDER)))
    except OSError:  # nothing was ever kept
        return False


def merge_and_settle(workspace: Workspace, archive: Archive, action: Callable[[Archive], T]) -> T:
    """Return action(archive). Waiting journals are merged before it. Constraints that it changed are enforced after it,
    and reminders compiled.
    """
    problem = None
    if workspace.merge_seconds and workspace.waiting:
        from unified_state.upkeep.merge.merge_back import merge_back  # rarely needed

        archive.run(f"PRAGMA busy_timeout = {_PATIENCE}")  # the action itself may have to wait again
        problem = merge_back(workspace, archive, workspace.merge_seconds)
        archive.run(f"PRAGMA busy_timeout = {round(workspace.seconds * 1000)}")
    result = action(archive)
    if read_enforcement(archive)[1] is None:
        from unified_state.constraints.compile_constraints import settle  # only after a change

        settle(archive, workspace)
    if workspace.merge_seconds and has_reminders(workspace.place):  # a prompt derives nothing and does not wait
        from unified_state.context.reminders.compile_reminders import settle_reminders

        settle_reminders(archive, workspace)
    if problem is not None:  # a failing action reports itself
        workspace.report(problem)
    return result
