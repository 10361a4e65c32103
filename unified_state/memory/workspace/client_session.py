"""The session of a program that outlives it: a client that goes on to another session starts no new server."""

from __future__ import annotations

from unified_state.memory.archive.sessions import session_of_same_client

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.workspace.workspace import Workspace


def follow_client(workspace: Workspace) -> None:
    """Let the workspace's session be the one that its client is in now, as far as the hooks have told."""
    began = workspace.session_id
    if began is not None and not workspace.is_empty:
        workspace.session_id = workspace.use(lambda archive: session_of_same_client(archive, began))
