"""/context-compact, as `install` puts it into the project: a hook answers it, without a request to the model."""

from __future__ import annotations

import pytest

from .installed import assert_archived, installed_with_items
from .scenario import Scenario
from .terminal import Terminal

ITEMS = ("D1 (the user said): Use SQLite", "C1 (the user said): API v1 stays", "Q1 (the user said): Which port?")


def test_in_print_mode_it_saves_and_gives_the_line_without_a_request(scenario: Scenario) -> None:
    product = installed_with_items(scenario)
    run = scenario.prompt("/context-compact also the tests")

    line = next(one for one in run.result.splitlines() if one.startswith("/compact Keep"))
    assert all(item in line for item in ITEMS)
    assert line.endswith("; also the tests")
    assert scenario.api.of("main") == []
    assert '"trigger": "manual"' in (scenario.project / ".claude/unified-session-state.json").read_text()
    assert_archived(scenario, product, run.session_id)


@pytest.mark.usefixtures("tmux")
def test_in_the_terminal_the_line_is_shown_and_works_when_it_is_typed(scenario: Scenario) -> None:
    installed_with_items(scenario)
    scenario.script("hello to you")
    with Terminal(scenario) as terminal:
        terminal.enter("hello")
        terminal.wait_for("hello to you")
        terminal.enter("/context-compact")
        terminal.wait_for("/compact Keep")
        line = "/compact Keep exact paths, names, commands and errors"
        terminal.type(line)
        terminal.wait_for(r"\u276f\s/compact Keep")  # in the prompt: the answer shows the same words
        terminal.press("Enter")
        terminal.wait_for("Compacted")
        terminal.leave()

    assert len(scenario.api.of("main")) == 1
    (request,) = scenario.api.of("compact")
    assert line.removeprefix("/compact ") in request.last_user_text()
