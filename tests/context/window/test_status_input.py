from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from unified_state.context.window.status_input import StatusInput, parse_status
from unified_state.model.context_usage import Reading

NOW = 5
USAGE = {"input_tokens": 1_000, "output_tokens": 20, "cache_creation_input_tokens": 200, "cache_read_input_tokens": 30}


def reading_of(**window: Any) -> Reading | None:
    """The reading in a status line's input with this context window."""
    return parse_status(json.dumps({"context_window": window}).encode(), NOW).reading


def test_the_conversation_is_what_was_read_and_what_came_from_the_cache() -> None:
    reading = reading_of(context_window_size=200_000, current_usage=USAGE, used_percentage=1)
    assert reading == Reading(1_230, 200_000, NOW, 1)


def test_before_the_first_answer_there_is_no_reading() -> None:
    assert reading_of(context_window_size=200_000, current_usage=None, used_percentage=None) is None


def test_where_only_the_percentage_is_told_it_counts() -> None:
    assert reading_of(context_window_size=200_000, used_percentage=30) == Reading(60_000, 200_000, NOW, 30)


def test_who_and_where_is_read() -> None:
    given_fields = {"session_id": "s", "cwd": "/p", "transcript_path": "/t"}
    assert parse_status(json.dumps(given_fields).encode(), NOW) == StatusInput("s", "/p", "/t")


@pytest.mark.parametrize(
    "window",
    [
        {},
        {"context_window_size": 0, "current_usage": USAGE},
        {"context_window_size": -200_000, "current_usage": USAGE},
        {"context_window_size": "200000", "current_usage": USAGE},
        {"context_window_size": True, "current_usage": USAGE},
        {"context_window_size": float("nan"), "current_usage": USAGE},
        {"context_window_size": float("inf"), "current_usage": USAGE},
        {"context_window_size": 200_000, "current_usage": [], "used_percentage": "many"},
        {"context_window_size": 200_000, "current_usage": {"input_tokens": -5}},
        {"context_window_size": 200_000, "current_usage": {"input_tokens": 1e300}},
        {"context_window_size": 200_000, "used_percentage": float("nan")},
        {"context_window_size": 200_000, "used_percentage": -1},
    ],
)
def test_figures_that_cannot_be_are_none(window: dict[str, Any]) -> None:
    assert reading_of(**window) is None


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"text"',
        b"12",
        b"\xff\xfe",
        b"[" * 50_000,
        b'{"session_id": 1, "cwd": [], "transcript_path": {}, "context_window": "full"}',
        b'{"cwd": "/a\\u0000b"}',
        b'{"session_id": "' + b"x" * 10_000_000 + b'"}',
    ],
    ids=["empty", "half", "null", "list", "text", "number", "bytes", "deep", "types", "nul", "10 MB"],
)
def test_an_input_of_another_shape_is_an_empty_one(raw: bytes) -> None:
    assert parse_status(raw, NOW) == StatusInput()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@example({}, {"context_window_size": 0.5, "used_percentage": 0})
@given(
    st.dictionaries(st.sampled_from(["session_id", "cwd", "context_window"]), JSON),
    st.dictionaries(st.sampled_from(["context_window_size", "current_usage", "used_percentage"]), JSON),
)
def test_no_json_breaks_it(fields: dict[str, Any], window: dict[str, Any]) -> None:
    for given_fields in (fields, {**fields, "context_window": window}):
        found = parse_status(json.dumps(given_fields).encode(), NOW)
        assert found.reading is None or (found.reading.tokens >= 0 and found.reading.window > 0)
