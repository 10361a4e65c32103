"""Calls of the MCP server: a line is `TOOL ARGUMENTS`. Whole servers are also given lines that may be no message."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from typing import Any

import anyio
from mcp_types import CallToolResult

from tests.campaign.kind import Kind, expect
from tests.campaign.world import SECONDS, World
from unified_state.interfaces.mcp.mcp_server import Server
from unified_state.interfaces.mcp.server_project import Project

_MOST = 5
_CALLS: tuple[tuple[str, dict[str, object]], ...] = (
    ("list", {"offset": 0}),
    ("search", {"query": "turn", "limit": 3, "since": "3d", "kind": "prompt", "file": "a.py"}),
    ("show", {"id": "S1", "turn": True, "offset": 0}),
    ("show", {"id": "S1"}),
    ("show", {"id": "D1", "source": True}),
    ("add", {"kind": "decision", "text": "Use @TOKEN@", "reason": "r", "reversible": True, "quote": "Turn 0"}),
    ("add", {"kind": "decision", "text": "Use sessions", "reason": "r", "supersedes": "D2"}),
    ("add", {"kind": "constraint", "text": "Never push", "reason": "s", "blocking": True}),
    ("add", {"kind": "question", "text": "Which port?", "reason": "c", "priority": "high"}),
    ("resolve", {"id": "Q1", "text": "8080"}),
    ("add", {"kind": "evidence", "type": "output", "text": "password=@TOKEN@", "reason": "x"}),
    ("work", {"id": "I1", "title": "t @TOKEN@", "phase": "build", "progress": 0.5}),
    ("add", {"kind": "attempt", "text": "x @TOKEN@", "reason": "y"}),
    ("edit", {"id": "C1", "text": "x @TOKEN@", "reason": "r", "blocking": True}),
)
_HELLO: tuple[dict[str, Any], ...] = (
    {"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
)  # fmt: skip


def seeds() -> list[bytes]:
    """Each tool alone, and several."""
    lines = [f"{name} {json.dumps(arguments)}".encode() for name, arguments in _CALLS]
    return [*lines, b"\n".join(lines[:5]), b"\n".join(lines[5:10]), b'{"jsonrpc": "2.0"}', b"no_tool {}"]


def meet(world: World, data: bytes) -> None:
    """Each call is answered, and what a call says was recorded can be read."""
    lines = [line.partition(b" ") for line in data.split(b"\n")[:_MOST]]
    named = [(name.decode("latin-1"), _object(given)) for name, _, given in lines]
    calls = [(name, given) for name, given in named if given is not None]
    if world.is_whole:
        _ask_process(world, calls, data.split(b"\n")[:_MOST])
    else:
        _ask_inside(world, calls)
    world.check_nothing_lost()


def _ask_inside(world: World, calls: list[tuple[str, dict[str, Any]]]) -> None:
    results: list[tuple[str, CallToolResult]] = []

    def act() -> int:
        server = Server(Project(str(world.repository)))
        for name, given in calls:
            result = anyio.run(server.call_tool, name, given)
            expect(isinstance(result, CallToolResult), result)
            results.append((name, result))  # type: ignore[arg-type]
        return 0

    world.within(act)
    for name, result in results:
        text = result.model_dump_json(by_alias=True)
        expect("Traceback" not in text and "a bug" not in text, f"{name}: {text[:600]}")
        if not result.is_error:  # an error may quote the caller's own argument
            world.said(text)
            _check_answer(world, name, result.structured_content or {})


def _check_answer(world: World, name: str, answer: dict[str, Any]) -> None:
    """An item that an answer says was recorded is there."""
    if name == "add" and isinstance(answer.get("id"), str):
        done = world.run("show", answer["id"])
        expect(done.code == 0, f"{name} recorded {answer['id']}, and it is not there: {done}")


def _ask_process(world: World, calls: list[tuple[str, dict[str, Any]]], lines: list[bytes]) -> None:
    messages = [{"jsonrpc": "2.0", "id": f"call-{number}", "method": "tools/call",
    "params": {"name": name, "arguments": given}}
                for number, (name, given) in enumerate(calls)]  # fmt: skip
    hello, asked = ([json.dumps(message).encode() for message in part] for part in (_HELLO, messages))
    command = [sys.executable, "-m", "unified_state.interfaces.cli.main", "mcp"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=world.repository,
        env=world.environment,
    ) as server:  # fmt: skip
        assert server.stdin is not None
        assert server.stdout is not None
        watchdog = threading.Timer(SECONDS, server.kill)
        watchdog.start()
        try:
            server.stdin.write(b"".join(line + b"\n" for line in (*hello, *lines, *asked)))
            server.stdin.flush()
            waiting = {f"call-{number}" for number in range(len(calls))}
            while waiting and (line := server.stdout.readline()):
                answer = json.loads(line)
                waiting.discard(str(answer.get("id")))
                if "result" in answer and not answer["result"].get("isError"):
                    world.said(line.decode())
            _, error = server.communicate()
        finally:
            watchdog.cancel()
    world.said(error.decode("utf-8", "replace"))
    expect(not waiting, f"calls got no answer: {waiting}")
    expect(server.returncode == 0, f"the server exits with {server.returncode}: {error[-500:]!r}")
    expect(b"Traceback" not in error, f"the server prints a traceback: {error[-1500:]!r}")


def _object(text: bytes) -> dict[str, Any] | None:
    """A call's arguments, as the library would give them to the server."""
    try:
        value = json.loads(text)
        json.dumps(value, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


KIND = Kind(
    "MCP calls", seeds, meet,
    (*(name for name, _ in _CALLS), "offset", "limit", "quote", "ref", "T1-S3", "S1-S5", "D2", "Q1", "part", "session",
     "since", "yesterday", "team", "lines", "grep", "(a+)+$", "kind", "tool", "Bash"),
)  # fmt: skip
