"""Turn reminders on and off in a worktree.

The choice is recorded next to the archive, because a file in the repository could be a stranger's.
"""

from __future__ import annotations

import os
import shutil

from unified_state.constraints.constraint_table import settings_path
from unified_state.context.reminders.reminder_table import TOLD, table_path, worktrees_on
from unified_state.lib.files import write_atomically
from unified_state.memory.repository.place import REMINDERS_ON, has_reminders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.repository.place import Place
    from unified_state.memory.workspace.workspace import Workspace


def turn_on(workspace: Workspace) -> None:
    """Turn reminders on in the worktree of a workspace. Raises StorageError."""
    place = workspace.place
    known = worktrees_on(place.folder)
    if place.repository.worktree not in known:
        _note(place, [*known, place.repository.worktree])
    from unified_state.context.reminders.compile_reminders import settle_reminders

    workspace.use(lambda archive: settle_reminders(archive, workspace))


def turn_off(place: Place, data_dir: str) -> bool:
    """Turn reminders off in the worktree of a place, and return whether they were on. Raises UnifiedStateError."""
    known, own = worktrees_on(place.folder), place.repository.worktree
    _remove_hook(own, data_dir)
    if own in known:
        _note(place, [worktree for worktree in known if worktree != own])
    return own in known


def turn_off_everywhere(place: Place, data_dir: str) -> None:
    """Remove the hook from every worktree of a repository, and its files. Raises UnifiedStateError."""
    for worktree in {place.repository.worktree, *worktrees_on(place.folder)}:
        _remove_hook(worktree, data_dir)
    _note(place, [])


def _remove_hook(worktree: str, data_dir: str) -> None:
    from unified_state.agents.install.install_claude_code import put_reminder_hook

    put_reminder_hook(settings_path(worktree), data_dir, "")


def _note(place: Place, worktrees: list[str]) -> None:
    """Record the worktrees in which reminders are on. Without any, the files of reminders are removed."""
    path = os.path.join(place.folder, REMINDERS_ON)
    if worktrees:
        write_atomically(path, os.fsencode("".join(f"{worktree}\n" for worktree in worktrees)))
    elif has_reminders(place):
        for name in (path, table_path(place.folder), f"{table_path(place.folder)}.lock"):
            if os.path.lexists(name):
                os.unlink(name)
        shutil.rmtree(os.path.join(place.folder, TOLD), ignore_errors=True)
