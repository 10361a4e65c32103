"""Whose word an item is: the agent's, who runs our commands through the Bash tool, or the user's own."""

from __future__ import annotations

import json

import pytest

from tests.sandboxed.product import PROGRAM

from .installed import installed
from .scenario import Scenario
from .terminal import Terminal

ADD_DECISION = f"{PROGRAM} decision add 'Use SQLite' --rationale 'one file' --irreversible"


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
