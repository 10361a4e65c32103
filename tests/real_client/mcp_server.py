"""Our MCP server inside the client, by the name that its tools have there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .conversation import Conversation
from .messages import Json, reply, tool
from .scenario import Scenario


class McpServer:
    """One of ours."""

    def __init__(self, name: str) -> None:
        self.name = f"mcp__{name}"

    def call(self, name: str, **given: object) -> Json:
        """A call of one of its tools."""
        return tool(f"{self.name}__{name}", **given)

    @contextmanager
    def conversation(self, scenario: Scenario, *allowed: str) -> Iterator[Conversation]:
        """A conversation in which it has started; on a busy machine the client does not wait for it."""
        with Conversation(scenario, "--allowedTools", self.name, *allowed) as client:
            for _ in range(30):
                scenario.script(reply(self.call("search", query="nothing")), "seen")
                client.ask("are you there?")
                if not scenario.api.of("main")[-1].find("No such tool"):
                    break
            yield client
