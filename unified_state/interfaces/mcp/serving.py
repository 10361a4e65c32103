"""Serving: the server answers on stdin and stdout until its client goes away, however that happens."""

from __future__ import annotations

from unified_state.interfaces.mcp.project import Project
from unified_state.interfaces.mcp.server import Server


def serve() -> int:
    """Serve until stdin ends."""
    Server(Project.of_client()).run("stdio")
    return 0
