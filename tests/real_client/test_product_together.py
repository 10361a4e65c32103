"""Parts of the product together in one client: the plugin with its server, and a second session."""

from __future__ import annotations

import json

import pytest

from tests.sandboxed.product import Product

from .conversation import Conversation
from .installed import assert_healthy, restores
from .mcp_server import McpServer
from .messages import bash, reply
from .plugin import Plugin, program_on_path
from .scenario import NEW_MODEL, OLD_MODEL, Scenario

FORBIDDEN = ("constraint", "add", "Never force-push", "--source", "me", "--scope", "command:git push --force")

SERVER = McpServer("plugin_unified-state_memory")
DECISION = "Use SQLite for the archive"


@pytest.fixture
def product(scenario: Scenario) -> Product:
    """The product by its plugin alone."""
    program_on_path(scenario)
    Plugin(scenario).install()
    return Product(scenario)


@pytest.mark.parametrize("model", [OLD_MODEL, NEW_MODEL])
def test_what_the_plugins_server_records_is_restored_by_the_plugins_hooks_and_told_to_another_session(
    scenario: Scenario, product: Product
) -> None:
    with SERVER.conversation(scenario, "Bash") as client, Conversation(scenario) as other:
        other.ask("meanwhile")
        scenario.script(reply(SERVER.call("add", kind="decision", text=DECISION, reason="one file")), "noted")
        for prompt in ("decide where to keep it", "/compact", "go on"):
            client.ask(prompt)
        (brief,) = [text for text in restores(scenario.api.of("main")[-1]) if "[DECISIONS]" in text]
        assert f"D1 (inferred): {DECISION}. Why: one file" in brief
        for prompt in ("and now", "and again"):
            other.ask(prompt)
        told = [text for text in restores(scenario.api.of("main")[-1]) if "[ELSEWHERE]" in text]
        assert len(told) == 1
        assert DECISION in told[0]
    found = json.loads(product.run("show", "--source", "D1", "--json"))
    assert (found["session_id"], found["turn"]["prompt"]["text"]) == (client.session_id, "decide where to keep it")
    assert_healthy(product)


def test_a_rule_of_the_users_that_came_by_the_server_binds_and_neither_denies_nor_lifts_what_is_enforced(
    scenario: Scenario, product: Product
) -> None:
    product.run(*FORBIDDEN, "--mode", "deny")
    rule = "Never force-push to any branch"
    added = SERVER.call("add", kind="constraint", text=rule, reason="the user", blocking=True, quote=rule)
    with SERVER.conversation(scenario, "Bash") as client:
        scenario.script(reply(added), reply(SERVER.call("resolve", id="C1", text="lifted")), "noted")
        client.ask(f"{rule}.")
        scenario.script(reply(bash("git push --force")), "done")
        client.ask("push")
    request = scenario.api.of("main")[-1]
    assert request.find("C1 is a constraint, which is not closed")
    assert request.find("Constraint C1 forbids this")
    shown = product.run("constraint", "list").splitlines()
    assert [line.split(":")[0] for line in shown] == [
        "C1 (the user said, blocking, enforced, deny",
        "C2 (the user said, blocking)",
    ]
    assert_healthy(product)
