"""Export a whole history to one file, which `import` can add to any other history."""

from __future__ import annotations

from unified_state.extras.team.team_server import TeamServer
from unified_state.project.workspace.workspace import Workspace
from unified_state.upkeep.history.archive_rows import everything
from unified_state.upkeep.history.history_file import write_history


def export_history(workspace: Workspace, path: str, server: TeamServer | None = None) -> int:
    """Write the whole history of this archive, or the user's own on a server, to a history file. Return the number of
    records.
    """
    if server is not None:
        with server.open() as store:
            return write_history(path, server.project, store.own_records())
    project = workspace.place.id or ""
    return workspace.use(lambda archive: write_history(path, project, everything(archive)))
