"""Serve the MCP server on stdin and stdout until its client ends.

Invariant: the server handles every line of the client. A line that is not a message gets one error. JSON with half an
emoji, which only Python's library cannot read, is repaired.
"""

from __future__ import annotations

import logging
import signal
import sys
from typing import TYPE_CHECKING

import anyio
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter
from pydantic import ValidationError

from unified_state.interfaces.mcp.mcp_server import Server
from unified_state.interfaces.mcp.server_project import Project, json_text
from unified_state.lib.json_text import parse_json

if TYPE_CHECKING:
    from mcp.shared._stream_protocols import ReadStream, WriteStream

Incoming = SessionMessage | Exception

_NO_JSON = "json_invalid"  # pydantic's error type
_ADVICE = "waits for a client on stdin; `claude mcp add unified-state -- unified-state mcp` adds it to one"


def serve() -> int:
    """Serve until stdin ends or the reader of stdout closes it. Return the exit code."""
    logging.basicConfig(stream=sys.stderr, level=logging.ERROR, format="unified-state mcp: %(message)s")
    # Python's own handlers wait for the thread that reads stdin, which may never end after the client has.
    for name in ("SIGINT", "SIGPIPE"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    if sys.stdin.isatty():
        sys.stderr.write(f"unified-state: {_ADVICE}\n")
    try:
        anyio.run(_serve, Server(Project.of_client()))
    except* BrokenPipeError:
        pass  # the client ended, on a system without SIGPIPE
    return 0


async def _serve(server: Server) -> None:
    async with stdio_server() as (lines, answers), anyio.create_task_group() as tasks:
        messages, understood = anyio.create_memory_object_stream["Incoming"]()
        tasks.start_soon(_understand, lines, messages, answers)
        await server.serve(understood, answers)
        # The thread that read stdin wakes the event loop through a socket pair. If the loop closes it first, that must
        # not end this process with a signal.
        if hasattr(signal, "SIGPIPE"):
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)


async def _understand(
    lines: ReadStream[Incoming], messages: MemoryObjectSendStream[Incoming], answers: WriteStream[SessionMessage]
) -> None:
    """Pass on the client's messages, and answer lines that are not messages."""
    async with messages:
        async for line in lines:
            if isinstance(line, SessionMessage):
                await messages.send(line)
            elif isinstance(line, ValidationError):
                await _understand_again(line, messages, answers)


async def _understand_again(
    problem: ValidationError, messages: MemoryObjectSendStream[Incoming], answers: WriteStream[SessionMessage]
) -> None:
    """Handle a line that could not be parsed: blank, JSON with half an emoji in it, or not a message."""
    first = problem.errors(include_url=False)[0]
    if first["type"] != _NO_JSON:
        await answers.send(_refusal(INVALID_REQUEST, "this is no message of the protocol"))
    elif first["input"].strip():
        try:
            text = json_text(parse_json(first["input"]))
            message = SessionMessage(jsonrpc_message_adapter.validate_json(text, by_name=False))
        except (ValueError, RecursionError):
            await answers.send(_refusal(PARSE_ERROR, "this is no JSON; a message is one line of it"))
        else:
            await messages.send(message)


def _refusal(code: int, text: str) -> SessionMessage:
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=code, message=text)))
