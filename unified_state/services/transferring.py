"""The whole of a history as one file, which `import` takes into any other."""

from __future__ import annotations

from unified_state.services.stores import use_store
from unified_state.storage.history_file import write_history
from unified_state.storage.tiers.protocol import everything

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.services.workspace import Workspace


def export_history(workspace: Workspace, path: str) -> int:
    """Write all there is as a history file; how many records."""
    project, seal = workspace.place.id or "", workspace.masker.seal
    return use_store(workspace, lambda store, _archive: write_history(path, project, everything(store), seal))
