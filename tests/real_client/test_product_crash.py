"""A client that is killed in the middle of a turn takes nothing with it: the next one to start saves what is left."""

from __future__ import annotations

import pytest

from .conversation import Conversation
from .crashes import (
    killed_before_the_prompt_was_written,
    killed_while_a_tool_runs,
    killed_while_the_model_answers,
    wait_until,
)
from .installed import HALF_LINE, assert_archived, installed, spoken
from .messages import bash, reply, tool
from .product import kept
from .scenario import ALLOW_BASH, Scenario

RESTART = pytest.mark.parametrize("restart", ["same session", "another session", "fork"])


def start_again(scenario: Scenario, session_id: str, restart: str) -> list[str]:
    """Start the client as told; the sessions to look at."""
    if restart == "another session":
        scenario.prompt("something else")
        return [session_id]
    run = scenario.prompt("go on", resume=session_id, fork=restart == "fork")
    return [session_id, run.session_id]


@RESTART
def test_killed_while_the_model_answers(scenario: Scenario, restart: str) -> None:
    product = installed(scenario)
    session_id = killed_while_the_model_answers(scenario)
    sessions = start_again(scenario, session_id, restart)
    assert [line["text"] for line in product.export(session_id)][:3] == ["first", "one", "second"]
    assert_archived(scenario, product, *sessions)


@RESTART
def test_killed_while_a_tool_runs(scenario: Scenario, restart: str) -> None:
    product = installed(scenario)
    session_id = killed_while_a_tool_runs(scenario)
    sessions = start_again(scenario, session_id, restart)
    (call,) = [line for line in product.export(session_id) if line["kind"] == "tool_call"]
    assert call["input"] == {"command": "tail -f /dev/null"}
    assert_archived(scenario, product, *sessions)


def test_a_prompt_that_the_gate_hands_on_outlives_a_client_that_is_killed_at_once(scenario: Scenario) -> None:
    """A setting in the environment lets the gate hand on every prompt."""
    scenario.environment["UNIFIED_STATE_PROMPT_MILLISECONDS"] = "2000"
    product = installed(scenario)
    session_id = killed_before_the_prompt_was_written(scenario)
    scenario.prompt("another session")
    assert [line["text"] for line in product.export(session_id)] == ["first", "one", "second"]


def test_a_prompt_that_needs_no_addition_is_archived_from_what_a_killed_client_wrote(scenario: Scenario) -> None:
    product = installed(scenario)
    notes = ".local/share/unified-state/quiet/*"
    session_id = killed_before_the_prompt_was_written(
        scenario, lambda: wait_until(lambda: any(scenario.home.glob(notes)))
    )
    assert_archived(scenario, product, session_id)


def test_killed_while_a_subagent_works(scenario: Scenario) -> None:
    product = installed(scenario)
    task = {"description": "a task", "prompt": "do it", "subagent_type": "general-purpose", "run_in_background": False}
    scenario.script(reply(tool("Agent", **task)))
    scenario.api.script("subagent", reply("I wait.", bash("tail -f /dev/null")))
    with Conversation(scenario, *ALLOW_BASH) as client:
        client.send("first")
        client.wait_for(lambda event: event["type"] == "assistant")
        wait_until(lambda: list(scenario.config.glob(f"projects/*/{client.session_id}/subagents/*.jsonl")))
        wait_until(lambda: spoken(scenario, client.session_id).total() == 5)
        client.kill()
    assert_archived(scenario, product, client.session_id)


def test_a_half_line_that_a_crash_left_is_skipped(scenario: Scenario) -> None:
    product = installed(scenario)
    session_id = scenario.prompt("first").session_id
    with scenario.transcript_path(session_id).open("ab") as transcript:
        transcript.write(HALF_LINE)
    scenario.prompt("second", resume=session_id)
    scenario.prompt("third", resume=session_id)
    scenario.prompt("another session, which catches up")
    expected, exported = spoken(scenario, session_id), kept(product.export(session_id))
    assert exported == expected
    assert all("has a damaged line before byte" in line for line in product.log().splitlines())
    assert product.log()
