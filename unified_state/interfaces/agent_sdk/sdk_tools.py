"""The tools of the MCP server inside an agent's own process: the very server, without a process of its own."""

from __future__ import annotations

from claude_agent_sdk import McpSdkServerConfig

from unified_state.interfaces.mcp.mcp_server import NAME, Server
from unified_state.interfaces.mcp.server_project import Project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["NAME", "in_process_server"]


def in_process_server(folder: str, session_id: Callable[[], str | None]) -> McpSdkServerConfig:
    """The server for the SDK's `mcp_servers`; `session_id` tells in whose session a tool is called."""
    return McpSdkServerConfig(type="sdk", name=NAME, instance=Server(Project(folder, session_id)).lowlevel)
