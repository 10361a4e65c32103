"""Export a whole history to one file, which `import` can add to any other history."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from unified_state.memory.archive.archive import Archive
from unified_state.memory.history.archive_store import SqliteStore
from unified_state.memory.history.history_file import write_history
from unified_state.memory.history.store_protocol import HistoryStore, everything
from unified_state.memory.workspace.workspace import Workspace
from unified_state.team.sync_server import Server

T = TypeVar("T")


def export_history(workspace: Workspace, path: str, server: Server | None = None) -> int:
    """Write the whole history, of this archive or of a server, to a history file. Return the number of records.

    An export from a server has no seal, so it counts as the user's own only if they confirm that at the import.
    """
    project, seal = (workspace.place.id or "", workspace.masker.seal) if server is None else (server.project, None)
    return use_store(workspace, lambda store, _archive: write_history(path, project, everything(store), seal), server)


def use_store(
    workspace: Workspace, action: Callable[[HistoryStore, Archive | None], T], server: Server | None = None
) -> T:
    """Open the store and return action(store, archive). The archive is None if the store is on a server."""
    if server is not None:
        with server.open() as store:
            return action(store, None)
    return workspace.use(lambda archive: action(SqliteStore(archive.path, archive=archive), archive))
