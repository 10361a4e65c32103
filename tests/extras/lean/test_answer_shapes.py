"""The text in what a tool answers: found only where the shape is known, and put back in the same shape."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import any_json
from unified_state.extras.lean.rules.answer_shapes import text_of, with_text

KNOWN: list[tuple[str, Any, str, Any]] = [
    ("Bash", {"stdout": "a", "stderr": "e"}, "a", {"stdout": "new\nx", "stderr": "e"}),
    (
        "Grep",
        {"mode": "content", "content": "a", "numLines": 1},
        "a",
        {"mode": "content", "content": "new\nx", "numLines": 1},
    ),
    (
        "Grep",
        {"mode": "files_with_matches", "filenames": ["a", "b"]},
        "a\nb",
        {"mode": "files_with_matches", "filenames": ["new", "x"]},
    ),
    ("Glob", {"filenames": ["a", "b"], "numFiles": 2}, "a\nb", {"filenames": ["new", "x"], "numFiles": 2}),
    ("WebFetch", {"result": "a", "code": 200}, "a", {"result": "new\nx", "code": 200}),
    ("mcp__s__t", "a", "a", "new\nx"),
    ("mcp__s__t", [{"type": "text", "text": "a"}], "a", [{"type": "text", "text": "new\nx"}]),
    (
        "Agent",
        {"status": "completed", "content": [{"type": "text", "text": "s"}, {"type": "text", "text": "long"}]},
        "long",
        {"status": "completed", "content": [{"type": "text", "text": "s"}, {"type": "text", "text": "new\nx"}]},
    ),
]
JSON = any_json("stdout content filenames mode result type text", leaves=12)
TOOLS = st.sampled_from(["Bash", "Grep", "Glob", "WebFetch", "Agent", "mcp__s__t", "Read", ""])


@pytest.mark.parametrize(("tool", "answer", "text", "changed"), KNOWN)
def test_a_known_shape_is_kept(tool: str, answer: Any, text: str, changed: Any) -> None:
    before = repr(answer)
    assert text_of(tool, answer) == text
    assert with_text(tool, answer, "new\nx") == changed
    assert repr(answer) == before


@given(TOOLS, JSON)
def test_whatever_a_tool_answers_its_own_text_gives_the_same_answer(tool: str, answer: Any) -> None:
    text = text_of(tool, answer)
    if text is not None and not (tool in {"Glob", "Grep"} and text == ""):  # no names at all, or one without letters
        assert with_text(tool, answer, text) == answer


def test_an_answer_of_which_any_part_imitates_a_short_form_is_left_as_it_is() -> None:
    imitation = {"type": "text", "text": "[S7: 900 lines, shown 3; show S7 --lines 1:60 | --grep REGEX]"}
    assert text_of("mcp__s__t", [imitation, {"type": "text", "text": "long " * 900}]) is None
