"""Words that a person marks in the client are theirs at once; those of a client that an agent started wait."""

from __future__ import annotations

import json
import shlex

import pytest

from tests.sandboxed.product import Product

from .crashes import wait_until
from .installed import installed
from .messages import bash, reply
from .scenario import ALLOW_BASH, NEW_MODEL, OLD_MODEL, Scenario
from .terminal import Terminal

RULE = "rule: never push to main"
INNER = "tmux -f /dev/null -S /tmp/inner.socket"

pytestmark = pytest.mark.usefixtures("tmux")


def origins(product: Product) -> list[tuple[str, str]]:
    """Status and origin of the rule, as often as it is recorded."""
    items = [json.loads(line) for line in product.run("export", "--items").splitlines()]
    rules = [item for item in items if item["body"].get("constraint") == "never push to main"]
    return [(item["status"], item["origin"]) for item in rules]


@pytest.mark.parametrize("model", [OLD_MODEL, NEW_MODEL])
def test_what_a_person_marks_is_theirs_and_both_are_told(scenario: Scenario) -> None:
    product = installed(scenario)
    scenario.script("the answer")
    with Terminal(scenario) as terminal:
        terminal.enter(RULE)
        terminal.wait_for("the answer")
        assert "[RECORDED] C1 (rule): never push to main" in terminal.screen()
        assert scenario.api.of("main")[0].find("[RECORDED] C1 (rule)")
        terminal.leave()
    wait_until(lambda: len(product.export()) > 1)
    assert origins(product) == [("active", "user_said")]
    assert product.log() == ""


def test_a_client_without_a_terminal_only_proposes(scenario: Scenario) -> None:
    product = installed(scenario)
    scenario.prompt(RULE)
    wait_until(lambda: origins(product) == [("proposed", "inferred")], 60)


def test_a_client_that_an_agent_starts_only_proposes(scenario: Scenario) -> None:
    product = installed(scenario)
    scenario.script(reply(bash(shlex.join(scenario.client_command("-p", RULE)))), "inner", "the answer")
    with Terminal(scenario, *ALLOW_BASH) as terminal:
        terminal.enter("Start it.")
        terminal.wait_for("the answer", 60)
        terminal.leave()
    wait_until(lambda: origins(product) == [("proposed", "inferred")], 60)


def test_a_client_in_a_terminal_that_an_agent_made_only_proposes(scenario: Scenario) -> None:
    product = installed(scenario)
    client = shlex.join(scenario.client_command("--permission-mode", "default", RULE))
    scenario.script(reply(bash(f"{INNER} new-session -d -x 160 -y 50 {shlex.quote(client)}")), "one", "two")
    with Terminal(scenario, *ALLOW_BASH) as terminal:
        terminal.enter("Start it.")
        wait_until(lambda: origins(product) == [("proposed", "inferred")], 60)
        terminal.leave()
