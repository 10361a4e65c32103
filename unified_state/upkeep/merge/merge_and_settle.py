"""The steps around each use of an archive: waiting journals are merged before it, changed constraints are enforced
after it, and reminders compiled where the user turned them on.

Hooks pass `MERGE_AND_SETTLE` to their workspaces, commands, servers and programs `DRAIN_AND_SETTLE`.
"""

from __future__ import annotations

from unified_state.lib.times import current_time
from unified_state.memory.archive.archive import read_enforcement
from unified_state.memory.repository.place import has_reminders
from unified_state.memory.workspace.workspace import AroundUse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.workspace.workspace import Workspace

_PATIENCE = 1_000  # milliseconds for which a step waits for another writer; the next use tries again


def _drain(workspace: Workspace, archive: Archive) -> None:
    """Archive the turns whose prompts a hook only kept."""
    from unified_state.capture.drain_spool import drain_spool

    archive.run(f"PRAGMA busy_timeout = {_PATIENCE}")  # the action itself may have to wait again
    drain_spool(archive, workspace, current_time())
    archive.run(f"PRAGMA busy_timeout = {round(workspace.seconds * 1000)}")


def _merge(workspace: Workspace, archive: Archive) -> str | None:
    """Merge the journals that wait, and return the problem that remains, or None."""
    from unified_state.upkeep.merge.merge_back import merge_back

    archive.run(f"PRAGMA busy_timeout = {_PATIENCE}")
    problem = merge_back(workspace, archive, workspace.merge_seconds)
    archive.run(f"PRAGMA busy_timeout = {round(workspace.seconds * 1000)}")
    return problem


def _settle(workspace: Workspace, archive: Archive) -> None:
    """Enforce constraints that changed, and compile the reminders where the user turned them on."""
    if read_enforcement(archive)[1] is None:
        from unified_state.constraints.compile_constraints import settle

        settle(archive, workspace)
    if workspace.merge_seconds and has_reminders(workspace.place):  # a prompt derives nothing and does not wait
        from unified_state.context.reminders.compile_reminders import settle_reminders

        settle_reminders(archive, workspace)


MERGE_AND_SETTLE = AroundUse(merge=_merge, settle=_settle)
DRAIN_AND_SETTLE = AroundUse(merge=_merge, settle=_settle, drain=_drain)
