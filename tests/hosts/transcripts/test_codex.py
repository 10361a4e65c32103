"""Lines of Codex's rollouts, as version 0.169.0 writes them, and what is read of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import any_json
from unified_state.hosts.transcripts.codex import read_line
from unified_state.lib.fence import fenced
from unified_state.model.step import (
    NOTICE,
    PROMPT,
    TEXT,
    THINKING,
    TOOL_CALL,
    TOOL_RESULT,
    Boundary,
    Delivery,
    RewindMark,
    Step,
)
from unified_state.model.step import Summary as SummaryFound

AT = "2026-11-22T10:13:23.418Z"


def line(kind: str = "response_item", at: str = AT, **payload: Any) -> dict[str, Any]:
    return {"timestamp": at, "type": kind, "payload": payload}


def message(role: str, text: str, kinds: list[str] | None = None) -> dict[str, Any]:
    about: dict[str, Any] = (
        {} if kinds is None else {"internal_chat_message_metadata_passthrough": {"content_item_kinds": kinds}}
    )
    return line(type="message", role=role, content=[{"type": "input_text", "text": text}], **about)


def told(value: dict[str, Any]) -> list[tuple[str, str]]:
    return [(step.kind, step.text) for step in read_line(value) if isinstance(step, Step)]


def test_a_prompt_opens_a_turn() -> None:
    (step,) = read_line(message("user", "fix it", ["user.text"]))
    assert isinstance(step, Step)
    assert (step.kind, step.text, step.starts_turn) == (PROMPT, "fix it", True)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("<environment_context>\n  <cwd>/x</cwd>", ["environment"]),
        ("<environment_context>\n  <cwd>/x</cwd>", None),
        ("# AGENTS.md instructions for /x", None),
        ("<skill>\n<name>worktree</name>", None),
    ],
)
def test_what_codex_says_in_the_users_place_is_no_prompt(text: str, kinds: list[str] | None) -> None:
    (step,) = read_line(message("user", text, kinds))
    assert isinstance(step, Step)
    assert (step.kind, step.starts_turn) == (NOTICE, False)


def test_an_older_rollout_does_not_say_what_a_message_is() -> None:
    assert told(message("user", "fix it")) == [(PROMPT, "fix it")]


def test_a_text_of_ours_that_arrived_is_seen() -> None:
    (found,) = read_line(message("developer", fenced("body", "abc123", "data")))
    assert isinstance(found, Delivery)
    assert found.nonces == ("abc123",)


def test_codexs_own_instructions_are_left_out() -> None:
    assert list(read_line(message("developer", "You are a coding agent"))) == []


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("exec_command", '{"cmd": "ls"}'),
        ("shell", '{"command": ["bash", "-lc", "ls"]}'),
        ("shell_command", '{"command": "ls"}'),
    ],
)
def test_a_shell_command_goes_by_claude_codes_name(name: str, arguments: str) -> None:
    (step,) = read_line(line(type="function_call", name=name, arguments=arguments, call_id="c1"))
    assert isinstance(step, Step)
    assert (step.kind, step.tool, step.text, step.tool_use_id) == (TOOL_CALL, "Bash", '{"command":"ls"}', "c1")


def test_a_tool_of_a_server_goes_by_claude_codes_name() -> None:
    (step,) = read_line(line(type="function_call", name="ask", namespace="mcp__wiki", arguments="{}", call_id="c1"))
    assert isinstance(step, Step)
    assert step.tool == "mcp__wiki__ask"


@pytest.mark.parametrize(
    ("output", "text", "failed"),
    [
        ("Chunk ID: 1\nProcess exited with code 0\nOutput:\nfine\nOutput:\n", "fine\nOutput:\n", False),
        ("Chunk ID: 1\nProcess exited with code 2\nOutput:\nno", "Exit code 2\nno", True),
        ("Chunk ID: 1\nProcess exited with code -1\nOutput:\n", "Exit code -1\n", True),
        ("Exit code: 1\nWall time: 0\nOutput:\nno", "Exit code 1\nno", True),
        ("Exit code: 0", "", False),
        ("Process running with session ID 7\nOutput:\nso far", "Process running with session ID 7\nso far", False),
        ('{"output":"no","metadata":{"exit_code":3}}', "Exit code 3\nno", True),
        ('{"output":1}', '{"output":1}', False),
        ("exec command rejected by user", "exec command rejected by user", True),
        ("a text that has no status", "a text that has no status", False),
    ],
)
def test_a_result_is_the_output_and_whether_the_command_failed(output: str, text: str, *, failed: bool) -> None:
    (step,) = read_line(line(type="function_call_output", call_id="c1", output=output))
    assert isinstance(step, Step)
    assert (step.kind, step.text, step.is_error) == (TOOL_RESULT, text, failed)


def test_a_compaction_is_a_boundary_and_its_summary() -> None:
    given = line("compacted", message="Another model has produced a summary of its thinking:\nWhat was done.")
    boundary, summary = read_line(given)
    assert isinstance(boundary, Boundary)
    assert isinstance(summary, SummaryFound)
    assert summary.text == "What was done."


def test_the_answer_that_is_the_summary_is_no_answer() -> None:
    given = {**message("assistant", "What was done."), "metadata": {"compaction_output": True}}
    assert list(read_line(given)) == []


def test_answers_and_thoughts_are_kept() -> None:
    assert told(message("assistant", "done")) == [(TEXT, "done")]
    thought = line(type="reasoning", summary=[{"type": "summary_text", "text": "hm"}], content=None)
    assert told(thought) == [(THINKING, "hm")]


def test_the_same_line_always_gives_the_same_step_and_another_one_another() -> None:
    first, again, other = (next(iter(read_line(message("user", text)))) for text in ("a", "a", "b"))
    assert first == again
    assert first != other


_JSON = any_json("text type name id response result functionResponse output", "text { \ud800")


@given(
    kind=st.sampled_from(["message", "function_call", "function_call_output", "reasoning", "custom_tool_call", "?"]),
    fields=st.dictionaries(
        st.sampled_from(["role", "content", "name", "arguments", "output", "call_id", "summary", "input", "action"]),
        _JSON,
        max_size=4,
    ),
    outer=st.sampled_from(["response_item", "compacted", "session_meta"]),
)
def test_no_line_makes_reading_fail(kind: str, fields: dict[str, Any], outer: str) -> None:
    given_line = {"type": outer, "timestamp": None, "payload": {**fields, "type": kind}, "metadata": 1}
    assert all(found.uuid for found in read_line(given_line) if not isinstance(found, RewindMark))
