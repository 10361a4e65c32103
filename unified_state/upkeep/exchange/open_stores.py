"""The store of a workspace's history, whichever tier it has, or that of a server."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.history.store_protocol import HistoryStore
    from unified_state.memory.workspace.workspace import Workspace
    from unified_state.team.sync_server import Server

    T = TypeVar("T")


def use_store(
    workspace: Workspace, action: Callable[[HistoryStore, Archive | None], T], server: Server | None = None
) -> T:
    """What the action makes of the store; it is also given the archive, where that is the store."""
    if server is not None:
        with server.open() as store:
            return action(store, None)
    from unified_state.memory.history.archive_store import SqliteStore

    return workspace.use(lambda archive: action(SqliteStore(archive.path, archive=archive), archive))
