"""Whose word an item is: the agent's, who runs our commands through the Bash tool, or the user's own."""

from __future__ import annotations

import json

import pytest

from tests.sandboxed.product import PROGRAM

from .installed import assert_archived, installed, rows
from .messages import bash, reply
from .scenario import ALLOW_BASH, NEW_MODEL, OLD_MODEL, Scenario
from .terminal import Terminal

MODELS = pytest.mark.parametrize("model", [OLD_MODEL, NEW_MODEL])
ADD_DECISION = f"{PROGRAM} decision add 'Use SQLite' --rationale 'one file' --irreversible"


@MODELS
def test_the_agents_decision_is_inferred_and_belongs_to_its_session(scenario: Scenario) -> None:
    product = installed(scenario)
    scenario.script(reply(bash(ADD_DECISION)), "noted")
    session_id = scenario.prompt("decide", *ALLOW_BASH).session_id

    decision = json.loads(product.run("show", "D1", "--json"))
    assert (decision["origin"], decision["session_id"]) == ("inferred", session_id)
    assert_archived(scenario, product, session_id)


def test_the_users_decision_in_his_own_terminal_is_said_by_the_user(scenario: Scenario) -> None:
    product = installed(scenario)
    scenario.prompt("first")
    product.run("decision", "add", "Use SQLite", "--rationale", "one file")
    assert json.loads(product.run("show", "D1", "--json"))["origin"] == "user_said"


def test_the_agent_cannot_make_a_constraint_that_binds(scenario: Scenario) -> None:
    product = installed(scenario)
    scenario.script(reply(bash(f"{PROGRAM} constraint add 'Never test' --source me --blocking")), "noted")
    scenario.prompt("first", *ALLOW_BASH)
    scenario.prompt("second")
    (brief,) = [text for _, text in scenario.api.of("main")[-1].find("Never test")]
    assert "the user said" not in brief
    assert json.loads(product.run("show", "C1", "--json"))["origin"] == "inferred"


def test_the_work_item_that_the_agent_sets_is_its_sessions(scenario: Scenario) -> None:
    installed(scenario)
    scenario.script(reply(bash(f"{PROGRAM} work set --title 'The archive'")), "noted")
    session_id = scenario.prompt("first", *ALLOW_BASH).session_id
    ((work,),) = rows(scenario, "SELECT work FROM session WHERE session_id = ?", session_id)
    assert json.loads(work)["workItem"]["title"] == "The archive"


@pytest.mark.usefixtures("tmux")
def test_a_command_behind_an_exclamation_mark_counts_as_the_agents(scenario: Scenario) -> None:
    product = installed(scenario)
    scenario.script("the answer")
    with Terminal(scenario) as terminal:
        terminal.press("!")
        terminal.enter(ADD_DECISION)
        terminal.wait_for("the answer")
        terminal.leave()
    assert json.loads(product.run("show", "D1", "--json"))["origin"] == "inferred"
