"""The product in the interactive client: its status line on the screen."""

from __future__ import annotations

import pytest

from .installed import assert_healthy, installed, installed_with_items, rows
from .messages import Reply
from .scenario import Scenario
from .terminal import Terminal

pytestmark = pytest.mark.usefixtures("tmux")


def said(text: str, tokens: int) -> Reply:
    """An answer; the API says that the conversation has so many tokens now."""
    return Reply(({"type": "text", "text": text},), tokens)


def test_the_status_line_stands_in_the_terminal(scenario: Scenario) -> None:
    product = installed_with_items(scenario)
    product.run("install", "--status-line")
    product.run("save")
    scenario.script(said("one", 60_000), said("two", 92_000), said("three", 124_000))
    with Terminal(scenario) as terminal:
        terminal.enter("hello")
        terminal.wait_for(r"30% 60k/200k · .*3 items, 1 blocking")
        terminal.enter("go on")
        terminal.wait_for(r"46% 92k/200k")
        terminal.enter("and on")
        terminal.wait_for(r"62% 124k/200k · compacts at 167k · 3 items, 1 blocking · saved .* · hooks ok")
    assert_healthy(product)


def test_a_context_that_fills_up_is_saved_and_told_once(scenario: Scenario) -> None:
    """The client writes the last answer of a turn after its Stop, so that it counts one turn later."""
    product = installed(scenario)
    scenario.script(said("one", 60_000), *(said(text, 130_000) for text in ("two", "three", "four", "five")))
    session = scenario.prompt("begin").session_id
    for words in ("go on", "further"):
        scenario.prompt(words, resume=session)
    assert rows(scenario, "SELECT trigger FROM saved") == [("threshold",)]
    for words in ("and on", "and on again"):
        scenario.prompt(words, resume=session)
        told = [text for _, text in scenario.api.of("main")[-1].texts() if "[CONTEXT] 78 % of the way" in text]
        assert len(told) == 1  # it stands in the conversation, and is not said again
    assert_healthy(product)
