"""Support for agents of the Claude Agent SDK. Only this folder imports it."""

from __future__ import annotations

AGENT_MEMORY = f"{__name__}.agent_memory:AgentMemory"
PAGES = {"use-the-agent-sdk.md": "Use the Agent SDK"}
