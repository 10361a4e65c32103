"""What the product relies on in how the client calls a hook: exec form, limits, and that a failure hurts nobody."""

from __future__ import annotations

import json
import sys

import pytest

from .crashes import wait_until
from .hooks import additional_context
from .messages import Json
from .scenario import NEW_MODEL, OLD_MODEL, Scenario
from .transcript import attachments

ANSWER_WITH_ARGUMENTS = """\
import json, sys
event = json.load(sys.stdin)
text = "it's \\"quoted\\" $HOME `x` %s " + json.dumps([event["hook_event_name"], *sys.argv[1:]])
print(json.dumps({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}}))
"""
FAILURES: dict[str, tuple[Json, str]] = {
    "exit status 1": ({"stderr": "sorry", "exit_status": 1}, "hook_non_blocking_error"),
    "time out": ({"timeout": 0.5, "seconds": 20}, "hook_cancelled"),
}


@pytest.mark.parametrize("file", ["settings.json", "settings.local.json"])
def test_exec_form_passes_every_argument_untouched(scenario: Scenario, file: str) -> None:
    arguments = ["-I", "-S", "-c", ANSWER_WITH_ARGUMENTS, "two words", "$HOME", "'q'", "${CLAUDE_PROJECT_DIR}/x"]
    handler = {"type": "command", "command": sys.executable, "args": arguments, "timeout": 10}
    (scenario.project / ".claude").mkdir()
    settings = {"hooks": {"SessionStart": [{"hooks": [handler]}]}}
    (scenario.project / ".claude" / file).write_text(json.dumps(settings))
    entries = scenario.transcript(scenario.prompt("first").session_id)

    (context,) = attachments(entries, "hook_additional_context")
    seen = ["SessionStart", "two words", "$HOME", "'q'", f"{scenario.project}/x"]
    assert context["content"] == [f'it\'s "quoted" $HOME `x` %s {json.dumps(seen)}']


def test_an_exec_form_hook_is_a_child_of_the_client_and_runs_in_the_project(scenario: Scenario) -> None:
    scenario.hooks.record("UserPromptSubmit")
    session = scenario.prompt("first").session_id

    (call,) = scenario.hooks.calls()
    assert call.environment["CLAUDE_PID"] == str(call.parent_process)
    assert call.environment["CLAUDE_CODE_SESSION_ID"] == session
    assert call.event["cwd"] == call.environment["CLAUDE_PROJECT_DIR"] == str(scenario.project)


@pytest.mark.parametrize("failure", FAILURES)
def test_failing_hooks_are_noted_and_the_turn_goes_on(scenario: Scenario, failure: str) -> None:
    behaviour, noted = FAILURES[failure]
    scenario.script("the answer")
    scenario.hooks.record("SessionStart", "UserPromptSubmit", "Stop", **behaviour)
    run = scenario.prompt("first")

    assert run.result == "the answer"
    notes = attachments(scenario.transcript(run.session_id), noted)
    assert [note["hookEvent"] for note in notes] == ["SessionStart", "UserPromptSubmit", "Stop"]


@pytest.mark.parametrize("model", [OLD_MODEL, NEW_MODEL])
def test_what_a_hook_leaves_behind_goes_on_and_is_not_waited_for(scenario: Scenario) -> None:
    ended = scenario.folder / "ended"
    work = 'input=$(cat); (sleep 2; printf %s "$input" >"$1") </dev/null >/dev/null 2>&1 &'
    handler = {"type": "command", "command": "/bin/sh", "args": ["-c", work, "sh", str(ended)]}
    scenario.hooks.add("Stop", handler)
    scenario.prompt("first")  # the client's process has ended
    assert not ended.exists()
    wait_until(ended.exists)
    assert json.loads(ended.read_text(encoding="utf-8"))["hook_event_name"] == "Stop"


def test_a_hook_whose_program_is_gone_is_noted_and_the_turn_goes_on(scenario: Scenario) -> None:
    scenario.script("the answer")
    scenario.hooks.add("UserPromptSubmit", {"type": "command", "command": "/no/such/python", "args": ["-c", "pass"]})
    run = scenario.prompt("first")

    assert run.result == "the answer"
    (note,) = attachments(scenario.transcript(run.session_id), "hook_non_blocking_error")
    assert "no such file or directory" in note["stderr"]


@pytest.mark.parametrize(("text", "whole"), [("é" * 10_000, True), ("é" * 10_001, False), ("😀" * 5_001, False)])
def test_the_limit_of_a_hook_is_10000_utf16_units(scenario: Scenario, text: str, whole: bool) -> None:
    scenario.hooks.record("UserPromptSubmit", stdout=additional_context("UserPromptSubmit", text))
    scenario.prompt("first")

    (request,) = scenario.api.of("main")
    assert bool(request.find(text)) == whole
    assert bool(request.find("<persisted-output>")) != whole
