"""What the MCP server costs: from its start to its first answer, and each call, beside a bare Python and the SDK alone.

python -m benchmarks.mcp_server [--rounds N]

The client starts one server a session and waits for it beside other work, so that the start is paid once. Most of it is
the SDK's own import.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.arguments import described
from benchmarks.side_by_side import Contender, clean_environment, compare, node
from benchmarks.world import PROGRAM, World

PROBE: dict[str, Any] = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "benchmark", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
}
CALLS: dict[str, dict[str, Any]] = {
    "add": {"kind": "decision", "text": "Use SQLite for the archive", "reason": "one file, no server"},
    "recall": {"ref": "D1"},
    "archive_search": {"query": "sqlite archive"},
    "state_get": {},
}


class Running:
    """A server that runs."""

    def __init__(self, world: World) -> None:
        self._process = subprocess.Popen(
            [PROGRAM, "mcp"],
            cwd=world.project,
            env=world.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, method: str, **given: Any) -> float:
        """The seconds to an answer."""
        begin = time.perf_counter()
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(
            json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {**given, **PROBE}})
        )
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        if answer.get("result", {}).get("isError") or "error" in answer:
            sys.exit(f"{method}: {answer}")
        return time.perf_counter() - begin

    def end(self) -> None:
        """Hang up."""
        self._process.communicate()


def started(world: World) -> float:
    """The seconds from the start of a server to its list of tools."""
    begin = time.perf_counter()
    server = Running(world)
    server.ask("tools/list")
    seconds = time.perf_counter() - begin
    server.end()
    return seconds


def main() -> None:
    """Measure, and print."""
    parser = described(__doc__)
    parser.add_argument("--rounds", type=int, default=11)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        sdk = [sys.executable, "-c", "import mcp.server"]
        compare([node(), Contender("python -c 'import mcp.server'", sdk, environment=clean_environment())], rounds)
        starts = sorted(started(world) for _ in range(rounds))
        print(f"\nfrom the start to the list of tools: {statistics.median(starts) * 1000:,.0f} ms (median)")
        server = Running(world)
        for name, arguments in CALLS.items():
            seconds = [server.ask("tools/call", name=name, arguments=arguments) for _ in range(rounds * 3)]
            print(f"{name:<16} {statistics.median(seconds) * 1000:6.1f} ms (median)")
        server.end()


if __name__ == "__main__":
    main()
