"""Asking the server as the SDK's own client does, in one process."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from mcp_types import CallToolResult, TextContent, Tool

from unified_state.interfaces.mcp.mcp_server import Server
from unified_state.interfaces.mcp.server_project import Project
from unified_state.lib.json_text import parse_json


def tools(folder: Path) -> dict[str, Tool]:
    """The tools, by their names."""

    async def run() -> list[Tool]:
        async with Client(Server(Project(str(folder)))) as client:
            return (await client.list_tools()).tools

    return {tool.name: tool for tool in anyio.run(run)}


def answer(folder: Path, name: str, **arguments: Any) -> dict[str, Any]:
    """What a tool answers, which must not be an error."""
    result = call(folder, name, **arguments)
    assert not result.is_error, text_of(result)
    found = result.structured_content
    assert isinstance(found, dict)
    assert parse_json(text_of(result)) == found
    return found


def refused(folder: Path, name: str, **arguments: Any) -> str:
    """What a tool says to a call that goes wrong."""
    result = call(folder, name, **arguments)
    assert result.is_error
    text = text_of(result)
    assert "Traceback" not in text
    assert "\n" not in text
    return text


def call(folder: Path, name: str, **arguments: Any) -> CallToolResult:
    """The result of one call."""

    async def run() -> CallToolResult:
        async with Client(_server(folder)) as client:
            return await client.call_tool(name, arguments)

    return anyio.run(run)


@lru_cache(maxsize=1)  # its tools are made once for the calls of a test
def _server(folder: Path) -> Server:
    return Server(Project(str(folder)))


def text_of(result: CallToolResult) -> str:
    """The text of a result."""
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text
