from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.builders import any_json
from unified_state.context.rules.status_text import StatusFigures, StatusInput, parse_status, status_line
from unified_state.model.context_usage import OK, OPTIMISE, PHASES, WARNING, Reading

FULL = StatusFigures(
    tokens=124_000,
    window=200_000,
    compacts_at=167_000,
    phase=WARNING,
    items=12,
    blocking=3,
    saved="4 min ago",
)


def test_everything_that_is_known_stands_in_one_line() -> None:
    assert status_line(FULL, 200, colour=False) == (
        "███████░░░│░ 62% 124k/200k · compacts at 167k · 12 items, 3 blocking · saved 4 min ago · hooks ok"
    )


def test_before_the_first_answer_and_without_records_it_says_so() -> None:
    assert (
        status_line(StatusFigures(), 200, colour=False) == "░░░░░░░░░░░░ no answer yet · nothing saved yet · hooks ok"
    )


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"compacts_at": None}, "124k/200k · 12 items"),
        ({"waiting": 1}, "3 blocking · 1 waits · saved"),
        ({"waiting": 12}, "3 blocking · 12 wait · saved"),
        ({"saved": None}, "3 blocking · hooks ok"),
        ({"tokens": 170_000}, "compacts any moment ·"),
        ({"items": 1, "blocking": 0}, "· 1 item ·"),
        ({"problem": "Stop failed 3 min ago"}, "124k/200k · ! Stop failed 3 min ago · compacts"),
    ],
)
def test_each_part_says_what_is_so(changes: dict[str, object], part: str) -> None:
    assert part in status_line(FULL.replace(**changes), 200, colour=False)


@pytest.mark.parametrize(("phase", "colour"), [(OK, "\x1b[32m"), (WARNING, "\x1b[33m"), (OPTIMISE, "\x1b[31m")])
def test_the_phase_gives_the_colour(phase: str, colour: str) -> None:
    line = status_line(FULL.replace(phase=phase), 200, colour=True)
    assert line.startswith(f"{colour}███████░░░│░ 62% 124k/200k\x1b[0m · {colour}compacts at")


def test_a_narrow_terminal_keeps_what_matters_most() -> None:
    assert status_line(FULL, 50, colour=False) == "███████░░░│░ 62% 124k/200k · compacts at 167k"
    assert status_line(FULL, 1, colour=False) == "███████░░░│░ 62% 124k/200k"


@given(
    st.builds(
        StatusFigures,
        tokens=st.none() | st.integers(0, 10**8),
        window=st.none() | st.integers(0, 10**8),
        compacts_at=st.none() | st.integers(0, 10**8),
        phase=st.sampled_from(PHASES),
        items=st.none() | st.integers(0, 10**6),
    ),
    st.integers(0, 300),
)
def test_whatever_is_known_it_is_one_line(glance: StatusFigures, columns: int) -> None:
    line = status_line(glance, columns, colour=False)
    assert line.isprintable()
    assert len(line) <= max(columns, 60)


NOW = 5
USAGE = {"input_tokens": 1_000, "output_tokens": 20, "cache_creation_input_tokens": 200, "cache_read_input_tokens": 30}


def reading_of(**window: Any) -> Reading | None:
    """The reading in a status line's input with this context window."""
    return parse_status(json.dumps({"context_window": window}).encode(), NOW).reading


def test_the_conversation_is_what_was_read_and_what_came_from_the_cache() -> None:
    reading = reading_of(context_window_size=200_000, current_usage=USAGE, used_percentage=1)
    assert reading == Reading(1_230, 200_000, NOW)


def test_before_the_first_answer_there_is_no_reading() -> None:
    assert reading_of(context_window_size=200_000, current_usage=None, used_percentage=None) is None


def test_where_only_the_percentage_is_told_it_counts() -> None:
    assert reading_of(context_window_size=200_000, used_percentage=30) == Reading(60_000, 200_000, NOW)


def test_who_and_where_is_read() -> None:
    given_fields = {"session_id": "s", "cwd": "/p", "transcript_path": "/t"}
    assert parse_status(json.dumps(given_fields).encode(), NOW) == StatusInput("s", "/p", "/t")


@pytest.mark.parametrize(
    "window",
    [
        {},
        {"context_window_size": 0, "current_usage": USAGE},
        {"context_window_size": "200000", "current_usage": USAGE},
        {"context_window_size": float("nan"), "current_usage": USAGE},
        {"context_window_size": 200_000, "current_usage": [], "used_percentage": "many"},
        {"context_window_size": 200_000, "current_usage": {"input_tokens": -5}},
        {"context_window_size": 200_000, "current_usage": {"input_tokens": 1e300}},
        {"context_window_size": 200_000, "used_percentage": -1},
    ],
)
def test_figures_that_cannot_be_are_none(window: dict[str, Any]) -> None:
    assert reading_of(**window) is None


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"[]", b"\xff\xfe", b"[" * 50_000, b'{"session_id": 1, "cwd": []}', b'{"cwd": "/a\\u0000b"}']
)
def test_an_input_of_another_shape_is_an_empty_one(raw: bytes) -> None:
    assert parse_status(raw, NOW) == StatusInput()


JSON = any_json()


@example({}, {"context_window_size": 0.5, "used_percentage": 0})
@given(
    st.dictionaries(st.sampled_from(["session_id", "cwd", "context_window"]), JSON),
    st.dictionaries(st.sampled_from(["context_window_size", "current_usage", "used_percentage"]), JSON),
)
def test_no_json_breaks_it(fields: dict[str, Any], window: dict[str, Any]) -> None:
    for given_fields in (fields, {**fields, "context_window": window}):
        found = parse_status(json.dumps(given_fields).encode(), NOW)
        assert found.reading is None or (found.reading.tokens >= 0 and found.reading.window > 0)
