"""A client of the MCP server that is written without the SDK: lines of JSON to and from a process."""

from __future__ import annotations

import json
import subprocess
from typing import Any, Self

from .product import PATIENCE, PROGRAM, Project

OLD_ERA, NEW_ERA = "2025-11-25", "2026-07-28"
_CLIENT = {"name": "test", "version": "1"}
_ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": NEW_ERA,
    "io.modelcontextprotocol/clientInfo": _CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}


class McpClient:
    """One server as a process, spoken to in the old era (a handshake first) or the new one (an envelope each time)."""

    def __init__(self, project: Project, era: str = OLD_ERA) -> None:
        pipe = subprocess.PIPE
        command = [*PROGRAM, "mcp"]
        self.process = subprocess.Popen(command, cwd=project.folder, stdin=pipe, stdout=pipe, stderr=pipe)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin, self.stdout = self.process.stdin, self.process.stdout
        self._era = era
        self._number = 0
        if era == OLD_ERA:
            given = {"protocolVersion": era, "capabilities": {}, "clientInfo": _CLIENT}
            assert self.ask("initialize", **given)["result"]["protocolVersion"] == era
            self.write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def write(self, message: object) -> None:
        """Write a message, or bytes that may be none, and do not wait."""
        line = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
        self.stdin.write(line)
        self.stdin.flush()

    def read(self) -> dict[str, Any]:
        """The next message of the server's; EOFError where it has ended."""
        line = self.stdout.readline()
        if not line:
            raise EOFError
        found: dict[str, Any] = json.loads(line)
        return found

    def ask(self, method: str, **given: Any) -> dict[str, Any]:
        """The answer to a request."""
        self._number += 1
        if self._era == NEW_ERA:
            given["_meta"] = _ENVELOPE
        self.write({"jsonrpc": "2.0", "id": self._number, "method": method, "params": given})
        while (answer := self.read()).get("id") != self._number:
            pass
        return answer

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The result of a tool."""
        result: dict[str, Any] = self.ask("tools/call", name=tool, arguments=arguments)["result"]
        return result

    def add(self, decision: str) -> str:
        """The id of a decision that was recorded."""
        return str(self.call("add", kind="decision", text=decision, reason="because")["structuredContent"]["id"])

    def end(self) -> tuple[int, str]:
        """Close stdin, as a client does that ends: the exit code, and what was said on stderr."""
        _, complaints = self.process.communicate(timeout=PATIENCE)
        return self.process.wait(), complaints.decode()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
