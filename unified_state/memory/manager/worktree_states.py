"""The state files of all worktrees: written anew after something left the ledger, or changed there, for good."""

from __future__ import annotations

import os

from unified_state.errors import UnifiedStateError
from unified_state.memory.manager.state_writer import StateWriter
from unified_state.memory.state_file.state_file import written_state_files
from unified_state.memory.workspace.open_workspace import open_workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from unified_state.memory.workspace.workspace import Workspace


def existing_state_files(workspace: Workspace) -> list[str]:
    """The state files of a repository's worktrees, also of linked clones, and this worktree's own."""
    paths = {workspace.place.state_path, *written_state_files(workspace.place.folder)}
    return sorted(filter(os.path.lexists, paths))


def rewrite_state_files(workspace: Workspace, leaves: Callable[[str], bool] | None = None) -> None:
    """Write them all as the ledger is now; of what others wrote into them, the texts go of which `leaves` says so. One
    that cannot be written is told.
    """
    for path in existing_state_files(workspace):
        try:
            owner = workspace if path == workspace.place.state_path else _owner(path, workspace)
            if owner.place.archive_path == workspace.place.archive_path:
                StateWriter(owner).refresh(leaves)
        except UnifiedStateError as error:
            workspace.report(f"the state file still has what it had: {error}")


def _owner(path: str, workspace: Workspace) -> Workspace:
    return open_workspace(os.path.dirname(os.path.dirname(path)), None, report=workspace.report, create=False)
