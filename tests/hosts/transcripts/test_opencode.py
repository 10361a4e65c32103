"""Messages of opencode, as version 1.18.33 gives them, and what is read of them."""

from __future__ import annotations

from typing import Any

import pytest

from unified_state.hosts.transcripts.opencode import read_line
from unified_state.lib.fence import fenced
from unified_state.model.step import PROMPT, TEXT, THINKING, TOOL_CALL, TOOL_RESULT, Boundary, Delivery, Step
from unified_state.model.step import Summary as SummaryFound


def message(role: str, *parts: Any, **info: Any) -> dict[str, Any]:
    about = {"id": "msg_1", "role": role, "time": {"created": 1795342561601}, **info}
    return {"info": about, "parts": [{"id": f"prt_{number}", **part} for number, part in enumerate(parts)]}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def test_a_prompt_opens_a_turn() -> None:
    (step,) = read_line(message("user", text("fix it")))
    assert step == Step(uuid="prt_0", block=0, kind=PROMPT, at=1795342561601, text="fix it", starts_turn=True)


def test_a_text_of_ours_that_arrived_is_seen_and_is_no_prompt() -> None:
    found = list(read_line(message("user", text(fenced("body", "abc123", "data"), synthetic=True), text("fix it"))))
    assert [type(part) for part in found] == [Delivery, Step]


def test_a_call_is_kept_once_it_has_ended() -> None:
    state = {"status": "running", "input": {"filePath": "a.py", "oldString": "x"}}
    part = {"type": "tool", "tool": "edit", "callID": "c1", "state": state}
    assert list(read_line(message("assistant", part))) == []
    call, result = read_line(message("assistant", {**part, "state": {**state, "status": "completed", "output": "ok"}}))
    assert isinstance(call, Step)
    assert isinstance(result, Step)
    assert (call.kind, call.tool, call.text) == (TOOL_CALL, "Edit", '{"file_path":"a.py","old_string":"x"}')
    assert (result.kind, result.text, result.is_error, result.block) == (TOOL_RESULT, "ok", False, 1)


def test_a_command_that_failed_is_an_error() -> None:
    state = {"status": "completed", "input": {"command": "false"}, "output": "", "metadata": {"exit": 1}}
    _, result = read_line(message("assistant", {"type": "tool", "tool": "bash", "callID": "c1", "state": state}))
    assert isinstance(result, Step)
    assert result.is_error


def test_answers_and_thoughts_are_kept() -> None:
    found = read_line(message("assistant", {"type": "reasoning", "text": "hm"}, text("done"), {"type": "step-finish"}))
    assert [(step.kind, step.text) for step in found if isinstance(step, Step)] == [(THINKING, "hm"), (TEXT, "done")]


def test_a_compaction_is_a_boundary_and_its_summary() -> None:
    boundary, summary = read_line(message("assistant", text("What was done."), summary=True))
    assert isinstance(boundary, Boundary)
    assert isinstance(summary, SummaryFound)
    assert summary.text == "What was done."


@pytest.mark.parametrize(
    "hostile",
    [
        {},
        {"info": 1, "parts": []},
        {"info": {}, "parts": None},
        {"info": {"role": "user"}, "parts": [1, {"id": 2}, {"id": "x", "type": "text", "text": 3}]},
        {"info": {"time": "now"}, "parts": [{"id": "x", "type": "tool", "state": []}]},
        {"info": {"summary": True, "id": 3}, "parts": [{"id": "x", "type": "text", "text": "y"}]},
    ],
)
def test_no_message_makes_reading_fail(hostile: dict[str, Any]) -> None:
    assert list(read_line(hostile)) == []


def test_an_infinite_time_is_none() -> None:
    (step,) = read_line(message("user", text("hi"), time={"created": float("inf")}))
    assert isinstance(step, Step)
    assert (step.text, step.at) == ("hi", 0)
