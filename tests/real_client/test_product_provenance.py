"""Where items come from and how they stand, as the real client's sessions go: tool calls, prompts, pastes, rewinds."""

from __future__ import annotations

import json

import pytest

from tests.sandboxed.product import PROGRAM, Product

from .installed import installed
from .messages import Json, bash, reply
from .scenario import ALLOW_BASH, Scenario
from .terminal import Terminal

CHOSEN = "\u276f"  # the sign before the line that Enter takes
RULE = "Never push to the main branch"
ADD_RULE = f"{PROGRAM} constraint add '{RULE}' --source user --blocking"
DECIDE = f"{PROGRAM} decision add 'Use SQLite for the archive' --rationale 'one file'"


def why(product: Product, ref: str) -> Json:
    found: Json = json.loads(product.run("show", "--source", ref, "--json"))
    return found


def test_a_rule_in_the_users_own_words_binds_though_the_agent_recorded_it(scenario: Scenario) -> None:
    installed(scenario)
    scenario.script(reply(bash(ADD_RULE)), "noted")
    scenario.prompt(f"Go on. {RULE}.", *ALLOW_BASH)
    scenario.prompt("second")
    (brief,) = [text for _, text in scenario.api.of("main")[-1].find("C1 (")]
    assert f"C1 (the user said, blocking): {RULE}." in brief


@pytest.mark.usefixtures("tmux")
def test_after_a_rewind_the_next_session_is_told_that_the_ledger_is_ahead(scenario: Scenario) -> None:
    product = installed(scenario)
    scenario.script("answer one", reply(bash(DECIDE)), "answer two", "answer three")
    with Terminal(scenario, *ALLOW_BASH) as terminal:
        terminal.enter("prompt one")
        terminal.wait_for("answer one")
        terminal.enter("prompt two")
        terminal.wait_for("answer two")
        terminal.enter("/rewind")
        terminal.wait_for("Restore the code and/or conversation")
        terminal.press("Up")
        terminal.wait_for(f"{CHOSEN} prompt two")
        terminal.press("Enter")
        terminal.wait_for("Restore conversation")
        terminal.press("Enter")
        terminal.wait_for(f"{CHOSEN}\u00a0prompt two")  # the client puts it back, behind the sign of its input
        terminal.press("C-u")
        terminal.enter("another way")
        terminal.wait_for("answer three")
        terminal.leave()
    assert why(product, "D1")["validity"]["text"] == "in a part of the conversation that was rewound"
    scenario.prompt("a new session")
    (brief,) = [text for _, text in scenario.api.of("main")[-1].find("[AHEAD]")]
    assert "[AHEAD] D1 was recorded at a later commit than this checkout, or" in brief
