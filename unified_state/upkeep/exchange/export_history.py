"""Export a whole history to one file, which `import` can add to any other history."""

from __future__ import annotations

from unified_state.project.workspace.workspace import Workspace
from unified_state.upkeep.history.archive_rows import everything
from unified_state.upkeep.history.history_file import write_history


def export_history(workspace: Workspace, path: str) -> int:
    """Write the whole history of this archive to a history file. Return the number of records."""
    project = workspace.place.id or ""
    return workspace.use(lambda archive: write_history(path, project, everything(archive)))
