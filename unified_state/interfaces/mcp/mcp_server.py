"""The MCP server: its tools and their descriptions, served on stdin and stdout until the client ends.

Invariant: only the protocol is written to stdout. Every line of the client is handled: one that is no message gets one
error, and JSON with half an emoji, which only Python's library cannot read, is repaired.
"""

from __future__ import annotations

import inspect
import logging
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import anyio
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    CallToolResult,
    ErrorData,
    InputRequiredResult,
    JSONRPCError,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from unified_state.extension import parts
from unified_state.interfaces.mcp.server_project import Project, answering, json_text, refusal
from unified_state.interfaces.mcp.tools import ReadingTools, RecordingTools
from unified_state.lib.json_text import parse_json
from unified_state.lib.package import __version__

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server as LowLevelServer
    from mcp.shared._stream_protocols import ReadStream, WriteStream

NAME = "unified-state"
INSTRUCTIONS = (
    "The working memory of this project. It survives compaction; the conversation does not.\n"
    "Record what later work depends on as soon as it is settled (add): decisions with their reasons, rules that the "
    "user gives, questions that are still open, evidence such as errors and outputs that took effort, attempts that "
    "failed; and what you work on (work). "
    "Where the user said it, pass their own sentence as `quote`.\n"
    "Before you ask the user for something, or do something again, look whether it is known: search finds "
    "anything that was ever said or done here, show prints it whole."
)


class Server(MCPServer[None]):
    """The server of one project."""

    def __init__(self, project: Project) -> None:
        tools = list(_tools(project))
        super().__init__(NAME, version=__version__, instructions=INSTRUCTIONS, tools=tools, log_level="ERROR")
        self._takes = {tool.name: list(tool.parameters["properties"]) for tool in tools}

    @property
    def lowlevel(self) -> LowLevelServer[None]:
        """Return the server of the MCP library itself, for callers with their own streams."""
        return self._lowlevel_server

    async def serve(
        self, messages: ReadStream[SessionMessage | Exception], answers: WriteStream[SessionMessage]
    ) -> None:
        """Answer one client until its messages end."""
        server = self.lowlevel
        await server.run(messages, answers, server.create_initialization_options())

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[None, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Return the answer of a tool. Unknown arguments are refused too, even where others would ignore them."""
        takes = self._takes.get(name)
        if takes is None:
            return refusal(f"there is no tool {name[:60]!r}; there are {', '.join(self._takes)}")
        problems = [f"it takes no {name[:60]!r}" for name in arguments if name not in takes]
        if not problems:
            try:
                return await super().call_tool(name, arguments, context)
            except ToolError as error:
                if not isinstance(error.__cause__, ValidationError):
                    raise
                problems = list(_problems(error.__cause__))
        return refusal(f"{name} was called wrongly: {'; '.join(problems)}; its arguments are {', '.join(takes)}")


def _tools(project: Project) -> Iterator[Tool]:
    """Yield the public methods as tools, with the hints of their class."""
    for owner in (make(project) for make in (ReadingTools, RecordingTools, *parts("TOOLS"))):
        names = (name for name, value in vars(type(owner)).items() if inspect.isfunction(value) and name[0] != "_")
        for method in (getattr(owner, name) for name in names):
            tool = Tool.from_function(
                answering(method),
                method.__name__.rstrip("_"),
                description=_about(method),
                annotations=getattr(owner, "hints", None),
                structured_output=False,
            )
            tool.parameters = _brief(tool.parameters)
            yield tool


_TOLD = ("type", "enum", "description", "minimum", "maximum", "default")  # of an argument


def _brief(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a tool's arguments in short, because the list of tools costs every conversation tokens. No
    other argument is allowed.
    """
    properties = {name: _argument(shape) for name, shape in schema["properties"].items()}
    required = {"required": schema["required"]} if schema.get("required") else {}
    return {"type": "object", "properties": properties, **required, "additionalProperties": False}


def _argument(shape: dict[str, Any]) -> dict[str, Any]:
    """Return the shape of one argument. An optional one is left out instead of given as null; the server takes that,
    too.
    """
    chosen: dict[str, Any] = next((choice for choice in shape.get("anyOf", ()) if choice["type"] != "null"), {})
    whole = {**chosen, **shape}
    told = {name: whole[name] for name in _TOLD if name in whole}
    if told.get("default", "") is None:
        del told["default"]
    return told


def _about(function: Callable[..., Any]) -> str:
    """Return a docstring without its line breaks."""
    return " ".join((inspect.getdoc(function) or "").split())


def _problems(error: ValidationError) -> Iterable[str]:
    """Yield the problems of the arguments, without their values, which may be long."""
    for problem in error.errors(include_url=False, include_input=False):
        yield f"{'.'.join(map(str, problem['loc']))}: {problem['msg'][:1].lower()}{problem['msg'][1:]}"


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
