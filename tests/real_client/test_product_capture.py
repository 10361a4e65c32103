"""What capture reads is what the client writes: answers, plans and refusals given at its own screen, commands that it
ran.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.sandboxed.product import Product

from .installed import installed
from .messages import Request, bash, reply, tool
from .mock_api import Answer
from .scenario import Scenario
from .terminal import Terminal

QUESTION = {
    "question": "Which store?",
    "header": "Store",
    "multiSelect": False,
    "options": [
        {"label": "SQLite", "description": "one file"},
        {"label": "Files", "description": "many files"},
    ],
}
PLAN = "# Cache the prices\n\n1. Read the cache\n2. Fill it"


def items(product: Product, kind: str) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = json.loads(product.run(kind, "list", "--all", "--json"))
    return listed


def press_until(terminal: Terminal, key: str, awaited: str) -> None:
    """Press a key until the screen shows what is awaited: for a moment, a dialog takes none that might be meant for
    what was there before.
    """
    for _ in range(20):
        terminal.press(key)
        try:
            terminal.wait_for(awaited, timeout=0.5)
        except TimeoutError:
            continue
        return
    terminal.wait_for(awaited, timeout=0.5)


def write_plan(request: Request) -> Answer:
    """The model writes its plan into the file that the client names."""
    found = re.search(r"/[^\s`\"]+/plans/[^\s`\"]+\.md", json.dumps(request.body))
    assert found
    return reply(tool("Write", file_path=found[0], content=PLAN))


@pytest.mark.usefixtures("tmux")
def test_an_answer_given_at_the_screen_is_a_decision(scenario: Scenario) -> None:
    product = installed(scenario)
    scenario.script(reply(tool("AskUserQuestion", questions=[QUESTION])), "noted the answer")
    with Terminal(scenario) as terminal:
        terminal.enter("ask me")
        terminal.wait_for("Which store")
        press_until(terminal, "Down", "\u276f 2. Files")
        press_until(terminal, "Enter", "noted the answer")
        terminal.leave()
    (decision,) = items(product, "decision")
    assert (decision["decision"], decision["origin"]) == ("Which store? Files", "user_said")
    assert decision["rationale"] == "not taken: SQLite (one file)"


@pytest.mark.usefixtures("tmux")
def test_a_plan_approved_at_the_screen_is_a_decision_and_what_is_worked_on(scenario: Scenario) -> None:
    product = installed(scenario)
    scenario.script(write_plan, reply(tool("ExitPlanMode")), "begun with it")
    with Terminal(scenario) as terminal:
        terminal.press("BTab", "BTab")
        terminal.wait_for("plan mode on")
        terminal.enter("plan it")
        terminal.wait_for("proceed|approve")
        press_until(terminal, "Enter", "begun with it")
        terminal.leave()
    (decision,) = items(product, "decision")
    assert (decision["decision"], decision["origin"]) == ("Approved plan: Cache the prices", "user_said")
    recalled = json.loads(product.run("show", decision["id"], "--json"))
    assert recalled["quote"] == PLAN


@pytest.mark.usefixtures("tmux")
def test_a_command_refused_at_the_screen_is_a_failed_attempt(scenario: Scenario) -> None:
    product = installed(scenario)
    scenario.script(reply(bash("touch made")))
    with Terminal(scenario) as terminal:
        terminal.enter("make it")
        terminal.wait_for("Do you want to proceed")
        press_until(terminal, "Escape", "[Ii]nterrupted|rejected|What should Claude do")
        terminal.leave()
    (attempt,) = items(product, "attempt")
    assert (attempt["attempt"], attempt["origin"]) == ("Bash: touch made", "user_said")
