"""Lines of Gemini CLI's chats, as version 0.61.0 writes them, and what is read of them."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.builders import any_json
from unified_state.hosts.transcripts.gemini import read_line
from unified_state.lib.fence import fenced
from unified_state.model.step import NOTICE, PROMPT, TEXT, THINKING, TOOL_CALL, TOOL_RESULT, Boundary, Delivery, Step
from unified_state.model.step import Summary as SummaryFound

AT = "2026-11-22T10:14:05.610Z"
CONTEXT = f"<hook_context>{fenced('body', 'abc123', 'data').replace('<', '&lt;').replace('>', '&gt;')}</hook_context>"


def line(kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"id": "m1", "timestamp": AT, "type": kind, "content": content, **more}


def call(**more: Any) -> dict[str, Any]:
    return {"id": "c1", "name": "run_shell_command", "args": {"command": "ls"}, "status": "success", **more}


def told(value: dict[str, Any]) -> list[tuple[str, str]]:
    return [(step.kind, step.text) for step in read_line(value) if isinstance(step, Step)]


def test_a_prompt_is_what_the_user_wrote_without_what_hooks_put_before_it() -> None:
    shown = [{"text": f"{CONTEXT}\n\nfix it"}]
    delivery, step = read_line(line("user", [*shown, {"text": CONTEXT}], displayContent=shown))
    assert isinstance(delivery, Delivery)
    assert set(delivery.nonces) == {"abc123"}
    assert isinstance(step, Step)
    assert (step.kind, step.text, step.starts_turn) == (PROMPT, "fix it", True)


def test_what_it_tells_the_model_of_the_folder_is_no_prompt() -> None:
    assert told(line("user", [{"text": "<session_context>\nThis is the Gemini CLI."}]))[0][0] == NOTICE


def test_a_result_in_the_users_place_is_left_to_its_call() -> None:
    assert told(line("user", [{"functionResponse": {"id": "c1", "response": {"output": "x"}}}])) == []


def test_a_message_that_grew_repeats_what_is_known_under_the_same_names() -> None:
    before = list(read_line(line("gemini", "hm", toolCalls=[call()])))
    result = [{"functionResponse": {"response": {"output": "a.py"}}}]
    after = list(read_line(line("gemini", "hm", toolCalls=[call(result=result)])))
    assert after[: len(before)] == before
    assert [found.text for found in after if isinstance(found, Step) and found.kind == TOOL_RESULT] == ["a.py"]


def test_tools_go_by_claude_codes_names() -> None:
    read = {"id": "c2", "name": "read_file", "args": {"absolute_path": "/p/a.py"}}
    steps = [found for found in read_line(line("gemini", "", toolCalls=[call(), read])) if isinstance(found, Step)]
    assert [(step.kind, step.tool) for step in steps] == [(TOOL_CALL, "Bash"), (TOOL_CALL, "Read")]
    assert '"file_path":"/p/a.py"' in steps[1].text


def test_a_failed_call_is_an_error() -> None:
    failed = call(status="error", result=[{"functionResponse": {"response": {"error": "no"}}}])
    (_, result) = read_line(line("gemini", "", toolCalls=[failed]))
    assert isinstance(result, Step)
    assert (result.text, result.is_error) == ("no", True)


def test_answers_and_thoughts_are_kept() -> None:
    thought = {"subject": "Plan", "description": "first this"}
    assert told(line("gemini", "done", thoughts=[thought])) == [(THINKING, "Plan\nfirst this"), (TEXT, "done")]


def test_a_compression_is_a_boundary_and_its_summary() -> None:
    summary = line("user", [{"text": "<state_snapshot>What was done.</state_snapshot>"}])
    kept = line("gemini", [{"text": "Got it."}]) | {"id": "m2"}
    boundary, found = read_line({"$set": {"messages": [summary, kept]}})
    assert isinstance(boundary, Boundary)
    assert isinstance(found, SummaryFound)
    assert found.text == "What was done."


def test_a_conversation_that_is_only_put_anew_holds_nothing_new() -> None:
    assert list(read_line({"$set": {"messages": [line("user", [{"text": "fix it"}])]}})) == []
    assert list(read_line({"sessionId": "s", "kind": "main"})) == []


_JSON = any_json("text type name id response result functionResponse output", "text { \ud800")


@given(
    kind=st.sampled_from(["user", "gemini", "info"]),
    fields=st.dictionaries(
        st.sampled_from(["content", "displayContent", "toolCalls", "thoughts", "timestamp", "$set"]), _JSON, max_size=4
    ),
)
def test_no_line_makes_reading_fail(kind: str, fields: dict[str, Any]) -> None:
    assert all(found for found in read_line({**fields, "id": "m1", "type": kind}))
