"""What the product relies on in how the client calls a hook: exec form, limits, and that a failure hurts nobody."""

from __future__ import annotations

import json
import sys

import pytest

from .crashes import wait_until
from .hooks import additional_context
from .scenario import NEW_MODEL, OLD_MODEL, Scenario
from .transcript import attachments

ANSWER_WITH_ARGUMENTS = """\
import json, sys
event = json.load(sys.stdin)
text = "it's \\"quoted\\" $HOME `x` %s " + json.dumps([event["hook_event_name"], *sys.argv[1:]])
print(json.dumps({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}}))
"""


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


@pytest.mark.parametrize(("text", "whole"), [("é" * 10_000, True), ("é" * 10_001, False), ("😀" * 5_001, False)])
def test_the_limit_of_a_hook_is_10000_utf16_units(scenario: Scenario, text: str, whole: bool) -> None:
    scenario.hooks.record("UserPromptSubmit", stdout=additional_context("UserPromptSubmit", text))
    scenario.prompt("first")

    (request,) = scenario.api.of("main")
    assert bool(request.find(text)) == whole
    assert bool(request.find("<persisted-output>")) != whole
