"""The MCP server inside the client: what the agent records by it survives a compaction, and is whose word it is."""

from __future__ import annotations

import json

import pytest

from tests.sandboxed.product import PROGRAM, Product

from .installed import assert_healthy, installed, restores
from .mcp_server import McpServer
from .messages import reply
from .scenario import NEW_MODEL, OLD_MODEL, Scenario, find_client

SERVER = McpServer("unified-state")


def with_server(scenario: Scenario) -> Product:
    """The product with its hooks, and its server added as the documentation says."""
    product = installed(scenario)
    client = find_client()
    assert client
    scenario.run_program(client, "mcp", "add", "unified-state", "--", PROGRAM, "mcp")
    return product


@pytest.mark.parametrize("model", [OLD_MODEL, NEW_MODEL])
def test_an_item_added_by_mcp_is_restored_after_a_compaction(scenario: Scenario) -> None:
    product = with_server(scenario)
    added = SERVER.call("add", kind="decision", text="Use SQLite for the archive", reason="one file, no server")
    with SERVER.conversation(scenario) as client:
        scenario.script(reply(added), "noted")
        for prompt in ("decide where to keep it", "/compact", "go on"):
            client.ask(prompt)
    request = scenario.api.of("main")[-1]
    (brief,) = [text for text in restores(request) if "[DECISIONS]" in text]
    assert "D1 (inferred): Use SQLite for the archive. Why: one file, no server" in brief
    found = json.loads(product.run("show", "--source", "D1", "--json"))
    assert (found["session_id"], found["turn"]["prompt"]["text"]) == (client.session_id, "decide where to keep it")
    assert_healthy(product)


def test_after_a_clear_the_same_server_records_for_the_new_session(scenario: Scenario) -> None:
    product = with_server(scenario)
    with SERVER.conversation(scenario) as client:
        client.ask("/clear")
        scenario.script(reply(SERVER.call("add", kind="decision", text="Use SQLite", reason="one file")), "noted")
        client.ask("second")
    assert json.loads(product.run("show", "D1", "--json"))["session_id"] == client.session_id
