"""What the product relies on in how the client starts subagents: what a hook is told, what reaches the subagent, when
the call of the parent is on the disk.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conversation import Conversation
from .hooks import additional_context
from .messages import Json, reply, tool
from .scenario import ALLOW_BASH, NEW_MODEL, OLD_MODEL, Scenario

MODELS = pytest.mark.parametrize("model", [OLD_MODEL, NEW_MODEL])
MARK = "a mark of the hook's"


def delegate(prompt: str) -> Json:
    """A call of the Agent tool."""
    return tool("Agent", description="a task", prompt=prompt, subagent_type="general-purpose", run_in_background=False)


@MODELS
def test_what_subagent_start_gives_stands_in_the_first_request_of_the_subagent(scenario: Scenario) -> None:
    scenario.hooks.record("SubagentStart", stdout=additional_context("SubagentStart", MARK))
    scenario.script(reply(delegate("do it")), "done")
    scenario.api.script("subagent", "the report")
    scenario.prompt("first", *ALLOW_BASH)

    (request,) = scenario.api.of("subagent")
    assert len(request.find(MARK)) == 1
    assert not any(request.find(MARK) for request in scenario.api.of("main"))


def test_subagent_start_is_told_the_agent_and_its_type_but_not_its_task(scenario: Scenario) -> None:
    scenario.hooks.record("SubagentStart")
    scenario.script(reply(delegate("do it")), "done")
    session_id = scenario.prompt("first", *ALLOW_BASH).session_id

    (call,) = scenario.hooks.calls()
    event = call.event
    assert (event["session_id"], event["agent_type"]) == (session_id, "general-purpose")
    assert event["transcript_path"] == str(scenario.transcript_path(session_id))
    assert "do it" not in json.dumps(event)


def test_the_call_stands_in_the_parents_transcript_soon_after_the_subagent_began(scenario: Scenario) -> None:
    scenario.hooks.record("SubagentStart", seconds=0.2)
    scenario.script(reply(delegate("one"), delegate("two")), "done")
    scenario.prompt("first", *ALLOW_BASH)

    for call in scenario.hooks.calls():
        said = json.dumps(call.entries_on_disk())
        assert '"prompt": "one"' in said
        assert '"prompt": "two"' in said


def test_once_it_has_begun_a_file_beside_its_transcript_names_its_call(scenario: Scenario) -> None:
    asked = delegate("do it")
    scenario.script(reply(asked), "done")
    session_id = scenario.prompt("first", *ALLOW_BASH).session_id

    folder = scenario.transcript_path(session_id).with_suffix("") / "subagents"
    (record,) = folder.glob("agent-*.meta.json")
    assert json.loads(record.read_text(encoding="utf-8"))["toolUseId"] == asked["id"]
    assert Path(str(record).replace(".meta.json", ".jsonl")).exists()


def test_what_subagent_start_gives_to_one_that_is_resumed_is_dropped(scenario: Scenario) -> None:
    scenario.hooks.record("SubagentStart", stdout=additional_context("SubagentStart", MARK))
    scenario.script(reply(delegate("do it")), "done")
    with Conversation(scenario, *ALLOW_BASH) as client:
        client.ask("first")
        agent = scenario.hooks.calls()[0].event["agent_id"]
        scenario.script(reply(tool("SendMessage", to=agent, message="Go on.", summary="go on")), "ok", "ok")
        client.ask("send it on")
        client.wait_for(lambda event: event["type"] == "result")

    assert [call.event["agent_id"] for call in scenario.hooks.calls()] == [agent, agent]
    assert [len(request.find(MARK)) for request in scenario.api.of("subagent")] == [1, 1]
