"""The reference of the MCP server: its tools, as it describes them."""

from __future__ import annotations

import os
from typing import Any

import anyio
from mcp import Client
from mcp_types import Tool

from tests.tools.command_reference import described
from unified_state.interfaces.mcp.mcp_server import INSTRUCTIONS, Server
from unified_state.interfaces.mcp.server_project import Project

# Described once above the tools, since most of them take these.
_SHARED = {"quote", "offset"}


def tools() -> str:
    """Every tool with its arguments."""
    return anyio.run(_reference)


def instructions() -> str:
    """The instructions that the server gives to every agent."""
    return "\n".join(f"> {line}" for line in INSTRUCTIONS.splitlines())


async def _reference() -> str:
    async with Client(Server(Project(os.devnull))) as client:
        found = (await client.list_tools()).tools
    return "\n\n".join(map(_tool, found))


def _tool(tool: Tool) -> str:
    """A tool: the first sentence of its description, and its own arguments."""
    about, _, _ = (tool.description or "").partition(". ")
    properties = tool.input_schema["properties"]
    shared = " and ".join(f"`{name}`" for name in properties if name in _SHARED)
    also = f" Also takes {shared}." if shared else ""
    required = tool.input_schema.get("required", [])
    rows = [
        (f"`{name}`" + (" (required)" if name in required else ""), _about(shape))
        for name, shape in properties.items()
        if name not in _SHARED
    ]
    parts = [f"### {tool.name}", f"{about.rstrip('.')}.{also}"]
    return "\n\n".join([*parts, described(rows)] if rows else parts)


def _about(shape: dict[str, Any]) -> str:
    """The description of an argument, its type where that is no string, and its default."""
    meaning = str(shape.get("description", ""))
    kind = _type(shape)
    default = shape.get("default")
    given = "" if default is None else f"default {str(default).lower()}"
    return "; ".join(filter(None, (meaning, kind if kind != "string" else "", given)))


def _type(shape: dict[str, Any]) -> str:
    return ", ".join(f'`"{choice}"`' for choice in shape["enum"]) if "enum" in shape else str(shape["type"])
