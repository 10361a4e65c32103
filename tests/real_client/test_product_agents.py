"""Subagents are archived under their parent, in the foreground and in the background."""

from __future__ import annotations

from .conversation import Conversation
from .installed import assert_archived, installed
from .messages import Json, bash, reply, tool
from .scenario import ALLOW_BASH, Scenario


def task(*, background: bool) -> Json:
    """A call of the Agent tool."""
    return tool(
        "Agent",
        description="a task",
        prompt="do the task",
        subagent_type="general-purpose",
        run_in_background=background,
    )


def test_a_subagent_in_the_background_that_outlives_the_turn_of_its_parent(scenario: Scenario) -> None:
    product = installed(scenario)
    scenario.script(reply(task(background=True)), "started", "thanks")
    scenario.api.script("subagent", reply(bash("python3 -c 'import time; time.sleep(1)'")), "the report")
    with Conversation(scenario, *ALLOW_BASH) as client:
        client.ask("first")
        client.wait_for(lambda event: event["type"] == "result")  # of the turn that the agent's report opens
    assert_archived(scenario, product, client.session_id)

    texts = [line.get("text") for line in product.export(client.session_id) if line.get("agent")]
    assert texts[0] == "do the task"
    assert texts[-1] == "the report"
    reports = [line for line in product.export(client.session_id) if "<task-notification>" in line.get("text", "")]
    assert [line["kind"] for line in reports] == ["notice"]
