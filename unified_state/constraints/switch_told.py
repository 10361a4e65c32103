"""Turn reminders on and off in a worktree: whether recorded facts are told before tool calls."""

from __future__ import annotations

import os
import shutil

from unified_state.constraints.compile_constraints import drop_told, settle
from unified_state.constraints.constraint_table import hook_matcher, settings_path
from unified_state.constraints.told_once import TOLD, worktrees_on
from unified_state.hosts.install.install_claude_code import put_tool_hook
from unified_state.lib.files import write_atomically
from unified_state.project.place import REMINDERS_ON, Place, has_reminders
from unified_state.project.workspace.workspace import Workspace


def turn_on(workspace: Workspace) -> None:
    """Turn reminders on in the worktree of a workspace. Raises StorageError."""
    place = workspace.place
    _note(place, [*worktrees_on(place.folder), place.repository.worktree])
    workspace.use(lambda archive: settle(archive, workspace))


def turn_off(place: Place, data_dir: str) -> None:
    """Turn reminders off in the worktree of a place. Raises UnifiedStateError."""
    own = place.repository.worktree
    if hook_matcher(own):  # one before all tools enforces constraints
        put_tool_hook(settings_path(own), data_dir, None)
    _note(place, [worktree for worktree in worktrees_on(place.folder) if worktree != own])


def _note(place: Place, worktrees: list[str]) -> None:
    """Record the worktrees in which reminders are on. Without any, nothing of them stays."""
    path = os.path.join(place.folder, REMINDERS_ON)
    if worktrees:
        write_atomically(path, os.fsencode("".join(f"{worktree}\n" for worktree in dict.fromkeys(worktrees))))
    elif has_reminders(place):
        os.unlink(path)
        drop_told(place)
        shutil.rmtree(os.path.join(place.folder, TOLD), ignore_errors=True)
