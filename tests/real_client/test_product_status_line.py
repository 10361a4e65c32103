"""The product in the interactive client: its status line on the screen."""

from __future__ import annotations

import pytest

from .installed import assert_healthy, installed_with_items
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
