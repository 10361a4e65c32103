"""Reminders in the real client: the model reads the line of the hook before a tool, once, and the call is made."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from unified_state.model.constraint import TOLD_TOOLS

from .conversation import Conversation
from .installed import assert_healthy, installed, restores
from .messages import Json, Request, bash, reply, tool
from .scenario import ALLOW_BASH, NEW_MODEL, OLD_MODEL, Scenario

MODELS = pytest.mark.parametrize("model", [OLD_MODEL, NEW_MODEL])
SETTLES = 3  # seconds
FAILING = "echo 'want 4, got 3'; exit 3"


def reminders(request: Request) -> list[str]:
    """The lines of reminders in a request."""
    return [text.split("\n")[1] for text in restores(request) if "[BEFORE THIS CALL]" in text]


def tool_hook(scenario: Scenario) -> list[Json]:
    """The entries before tool calls in the project's settings."""
    path = scenario.project / ".claude" / "settings.local.json"
    found: list[Json] = json.loads(path.read_text(encoding="utf-8"))["hooks"].get("PreToolUse", [])
    return found


@MODELS
def test_the_model_is_reminded_once_of_a_decision_on_a_file_and_the_edit_is_made(scenario: Scenario) -> None:
    product = installed(scenario, "--reminders", "on")
    product.run("decision", "add", "Keep the lock in pool.py", "--rationale", "a test hung without it")
    path = str(scenario.project / "pool.py")
    scenario.script(
        reply(tool("Write", file_path=path, content="a = 1\n")),
        reply(tool("Edit", file_path=path, old_string="a = 1", new_string="a = 2")),
        "done",
    )
    scenario.prompt("go", "--permission-mode", "acceptEdits")
    *_, last = scenario.api.of("main")
    (told,) = reminders(last)
    assert "D1 (the user said): Keep the lock in pool.py. Why: a test hung without it" in told
    assert (scenario.project / "pool.py").read_text(encoding="utf-8") == "a = 2\n"
    assert_healthy(product)


def test_the_model_is_reminded_of_a_failure_in_a_later_session_and_the_command_is_run(scenario: Scenario) -> None:
    product = installed(scenario, "--reminders", "on")
    scenario.script(reply(bash(FAILING)), "it failed")
    scenario.prompt("first", *ALLOW_BASH)
    scenario.prompt("a session that archives the rest", *ALLOW_BASH)
    assert [group["matcher"] for group in tool_hook(scenario)] == [TOLD_TOOLS]
    scenario.script(reply(bash(FAILING)), reply(bash(FAILING)), "it failed again")
    run = scenario.prompt("again", *ALLOW_BASH)
    (told,) = reminders(scenario.api.of("main")[-1])
    assert "This command failed when it was last run: E1 (error, observed): " in told
    assert "want 4, got 3" in told
    assert results_of(run) == 2
    assert_healthy(product)


def results_of(run: Any) -> int:
    """The number of tool results in the events of a run."""
    return sum("tool_result" in json.dumps(event) for event in run.events if event.get("type") == "user")


def test_what_the_conversation_contains_is_told_after_a_compaction_and_not_before(scenario: Scenario) -> None:
    product = installed(scenario, "--reminders", "on")
    with Conversation(scenario, *ALLOW_BASH) as client:
        for number, prompt in enumerate(("try", "again", "/compact", "and now", "once more")):
            if prompt != "/compact":
                scenario.script(reply(bash(FAILING)), f"it failed {number}")
            client.ask(prompt)
            time.sleep(SETTLES)  # a client that runs already notices its settings within a second or two
            if number == 1:
                assert reminders(scenario.api.of("main")[-1]) == []
    (told,) = reminders(scenario.api.of("main")[-1])
    assert "This command failed when it was last run, 2 times in a row: E2 (error" in told
    assert_healthy(product)
