"""/context-compact, as `install` puts it into the project: it saves the state and shows the line to type."""

from __future__ import annotations

import pytest

from .installed import assert_archived, installed_with_items
from .messages import Request
from .scenario import NEW_MODEL, OLD_MODEL, Scenario
from .terminal import Terminal

MODELS = pytest.mark.parametrize("model", [OLD_MODEL, NEW_MODEL])
ITEMS = ("D1 (the user said): Use SQLite", "C1 (the user said): API v1 stays", "Q1 (the user said): Which port?")


def compact_line(request: Request) -> str:
    """The line that the command put before the model."""
    lines = [line for _, text in request.texts() for line in text.splitlines() if line.startswith("/compact Keep")]
    assert len(lines) == 1
    return lines[0]


@MODELS
def test_in_print_mode_the_model_is_told_the_line(scenario: Scenario) -> None:
    product = installed_with_items(scenario)
    scenario.script(lambda request: f"```\n{compact_line(request)}\n```")
    run = scenario.prompt("/context-compact also the tests")

    line = run.result.strip("`\n")
    assert all(item in line for item in ITEMS)
    assert scenario.api.of("main")[-1].find("also the tests")
    assert '"trigger": "manual"' in (scenario.project / ".claude/unified-session-state.json").read_text()
    assert_archived(scenario, product, run.session_id)


@pytest.mark.usefixtures("tmux")
def test_in_the_terminal_the_line_is_shown_and_works_when_it_is_typed(scenario: Scenario) -> None:
    installed_with_items(scenario)
    scenario.script("hello to you", lambda request: f"```\n{compact_line(request)}\n```")
    with Terminal(scenario) as terminal:
        terminal.enter("hello")
        terminal.wait_for("hello to you")
        terminal.enter("/context-compact")
        terminal.wait_for("/compact Keep")
        line = compact_line(scenario.api.of("main")[-1])
        terminal.type(line)
        terminal.wait_for(r"\u276f\s/compact Keep")  # in the prompt: the answer shows the same words
        terminal.press("Enter")
        terminal.wait_for("Compacted")
        terminal.leave()

    (request,) = scenario.api.of("compact")
    assert line.removeprefix("/compact ") in request.last_user_text()
