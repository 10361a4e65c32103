"""What the product relies on in the interactive client: how the transcript tells a person's words from others'."""

from __future__ import annotations

import pytest

from .scenario import ALLOW_BASH, NEW_MODEL, OLD_MODEL, Scenario
from .terminal import Terminal
from .transcript import dialogue

pytestmark = [pytest.mark.usefixtures("tmux"), pytest.mark.parametrize("model", [OLD_MODEL, NEW_MODEL])]


def test_words_typed_by_a_person_are_marked_as_human(scenario: Scenario) -> None:
    scenario.script("the answer")
    scenario.hooks.record("UserPromptSubmit")
    with Terminal(scenario) as terminal:
        terminal.enter("hello")
        terminal.wait_for("the answer")
        terminal.leave()

    (call,) = scenario.hooks.calls()
    (prompt,) = [entry for entry in scenario.transcript(call.event["session_id"]) if entry["type"] == "user"]
    assert prompt["message"]["content"] == call.event["prompt"] == "hello"
    assert prompt["origin"] == {"kind": "human"}


def test_a_pasted_block_is_fenced_in_the_prompt(scenario: Scenario) -> None:
    scenario.script("the answer")
    scenario.hooks.record("UserPromptSubmit")
    with Terminal(scenario) as terminal:
        terminal.type("look:")
        terminal.paste("\n".join(f"line {number}" for number in range(30)))
        terminal.wait_for(r"Pasted text #1 \+29 lines")
        terminal.press("Enter")
        terminal.wait_for("the answer")

    (call,) = scenario.hooks.calls()
    assert "<pasted_content id=" in call.event["prompt"].partition("line 0")[0]


def test_a_shell_command_of_the_person_passes_no_prompt_hook(scenario: Scenario) -> None:
    scenario.script("the answer")
    scenario.hooks.record("UserPromptSubmit", "PreToolUse", "Stop")
    with Terminal(scenario, *ALLOW_BASH) as terminal:
        terminal.press("!")
        terminal.enter("echo from the shell")
        terminal.wait_for("the answer")
        terminal.leave()

    (call,) = scenario.hooks.calls()
    assert call.name == "Stop"
    said = dialogue(scenario.transcript(call.event["session_id"]))
    assert ("user", "<bash-input>echo from the shell</bash-input>") in said
    assert ("user", "<bash-stdout>from the shell</bash-stdout><bash-stderr></bash-stderr>") in said


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
