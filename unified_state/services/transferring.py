"""The whole of an archive as one file, which `import` takes into any other."""

from __future__ import annotations

from unified_state.storage.history_file import write_history
from unified_state.storage.tiers.protocol import everything
from unified_state.storage.tiers.sqlite import SqliteStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.services.workspace import Workspace
    from unified_state.storage.archive import Archive


def export_history(workspace: Workspace, path: str) -> int:
    """Write all there is as a history file; how many records."""

    def action(archive: Archive) -> int:
        return write_history(path, workspace.place.id or "", everything(SqliteStore(archive.path, archive=archive)))

    return workspace.use(action)
