"""Which steps tell nothing about the work: what concerns unified-state alone, and calls that reached no tool."""

from __future__ import annotations

import pytest

from unified_state.constraints.rules.denial_text import denial
from unified_state.hosts.transcripts.rules.call_effects import call_of, did_not_reach_a_tool, is_about_work, is_own_call
from unified_state.model.constraint import Breach, EnforcedRow
from unified_state.model.step import PROMPT, TOOL_RESULT, Step


def _step(kind: str, text: str) -> Step:
    return Step(uuid="u", block=0, kind=kind, at=0, text=text)


RULE = EnforcedRow(
    ref="C1", text="Never push", source="me", origin="user_said", at="2026-11-23", mode="deny", meant="deny"
)  # fmt: skip


@pytest.mark.parametrize(
    "command",
    [
        "unified-state recall S3", "cd /x && unified-state search a | head -5", "/opt/bin/unified-state status",
        'unified-state decision add "a; b" --rationale "c" 2>&1 | tail',
    ],
)  # fmt: skip
def test_a_command_of_ours_is_our_own(command: str) -> None:
    assert is_own_call(call_of("Bash", {"command": command}))


@pytest.mark.parametrize("command", ["pytest", "unified-state save && pytest", "ls unified-state", "cd unified-state"])
def test_a_command_that_does_something_else_too_is_not(command: str) -> None:
    assert not is_own_call(call_of("Bash", {"command": command}))


@pytest.mark.parametrize("tool", ["mcp__unified-state__recall", "mcp__plugin_unified-state_memory__add"])
def test_a_tool_of_ours_is_our_own(tool: str) -> None:
    assert is_own_call(call_of(tool, {"ref": "D1"}))
    assert not is_own_call(call_of("mcp__github__get_issue", {"body": "unified-state"}))


@pytest.mark.parametrize("before", ["", "PreToolUse:Edit hook error: ", "Hook PreToolUse:Bash denied this tool: "])
def test_a_call_that_we_denied_reached_no_tool(before: str) -> None:
    assert did_not_reach_a_tool(before + denial([Breach(constraint=RULE, mode="deny", matched="git push")]))


def test_an_output_that_quotes_a_denial_did() -> None:
    assert not did_not_reach_a_tool("x" * 300 + denial([Breach(constraint=RULE, mode="deny", matched="git push")]))
    assert not did_not_reach_a_tool("<tool_use_error>String to replace not found in file.")


def test_a_slash_command_of_ours_is_no_work() -> None:
    own = "<command-message>context-compact</command-message>\n<command-name>/context-compact</command-name>"
    assert not is_about_work(_step(PROMPT, own), None)
    assert is_about_work(_step(PROMPT, "look at /context-compact"), None)
    assert is_about_work(_step(TOOL_RESULT, "ok"), None)
