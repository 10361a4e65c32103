"""What the product relies on in the interactive client: how the transcript tells a person's words from others'."""

from __future__ import annotations

import pytest

from .scenario import NEW_MODEL, OLD_MODEL, Scenario
from .terminal import Terminal

pytestmark = [pytest.mark.usefixtures("tmux"), pytest.mark.parametrize("model", [OLD_MODEL, NEW_MODEL])]


def test_resume_inside_the_client_changes_the_session_of_the_same_process(scenario: Scenario) -> None:
    scenario.script("answer one", "answer two")
    scenario.hooks.record("SessionStart", "SessionEnd")
    with Terminal(scenario) as terminal:
        terminal.enter("hello")
        terminal.wait_for("answer one")
        terminal.enter("/clear")
        terminal.wait_for(r"/clear *\n")
        terminal.enter("goodbye")
        terminal.wait_for("answer two")
        terminal.enter("/resume")
        terminal.wait_for(r"(?s)Resume session.*hello")
        terminal.press("Enter")
        terminal.wait_for("answer one")
        terminal.leave()

    calls = scenario.hooks.calls()
    assert [call.name for call in calls[3:]] == [
        "SessionEnd:resume",
        "SessionStart:resume",
        "SessionEnd:prompt_input_exit",
    ]
    assert calls[4].event["session_id"] == calls[0].event["session_id"]
    assert len({call.environment["CLAUDE_PID"] for call in calls}) == 1
