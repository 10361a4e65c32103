"""The whole of a history as one file, which `import` takes into any other."""

from __future__ import annotations

from unified_state.memory.history.history_file import write_history
from unified_state.memory.history.store_protocol import everything
from unified_state.upkeep.exchange.open_stores import use_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.workspace.workspace import Workspace
    from unified_state.team.sync_server import Server


def export_history(workspace: Workspace, path: str, server: Server | None = None) -> int:
    """Write all that was said and recorded, here or on a server, as a history file; how many records. What comes from a
    server bears no seal: it is nobody's own until they say so.
    """
    project, seal = (workspace.place.id or "", workspace.masker.seal) if server is None else (server.project, None)
    return use_store(workspace, lambda store, _archive: write_history(path, project, everything(store), seal), server)
