from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.context.window.rules.context_phase import is_higher, phase_of, trend_of
from unified_state.model.context_usage import OK, OPTIMISE, PHASES, WARNING, Point, Trend

USUAL = (70, 85)
MINUTE = 60_000


def points(*sizes: int) -> list[Point]:
    """A history: a turn a minute."""
    return [Point(turn * MINUTE, turn, tokens) for turn, tokens in enumerate(sizes, 1)]


@pytest.mark.parametrize(
    ("percent", "before", "phase"),
    [
        (0, OK, OK),
        (69.9, OK, OK),
        (70, OK, WARNING),
        (85, OK, OPTIMISE),
        (130, OK, OPTIMISE),
        (66, WARNING, WARNING),  # it does not flicker
        (64.9, WARNING, OK),
        (81, OPTIMISE, OPTIMISE),
        (79, OPTIMISE, WARNING),
        (10, OPTIMISE, OK),
    ],
)
def test_a_phase_rises_at_once_and_falls_only_well_below(percent: float, before: str, phase: str) -> None:
    assert phase_of(percent, before, USUAL) == phase


@given(st.floats(0, 1000), st.sampled_from(PHASES), st.tuples(st.integers(1, 100), st.integers(1, 100)))
def test_a_phase_that_was_found_stays_where_nothing_changes(
    percent: float, before: str, thresholds: tuple[int, int]
) -> None:
    phase = phase_of(percent, before, thresholds)
    assert phase_of(percent, phase, thresholds) == phase
    assert not is_higher(phase_of(percent, OK, thresholds), phase)


def test_the_trend_tells_turns_and_minutes_to_the_limit() -> None:
    assert trend_of(points(10_000, 20_000, 30_000), 75_000) == Trend(10_000, 5, 4)


def test_the_trend_begins_where_the_conversation_last_shrank() -> None:
    assert trend_of(points(100_000, 150_000, 20_000, 25_000), 165_000) == Trend(5_000, 28, 28)


@pytest.mark.parametrize("history", [[], points(5), points(50, 20)])
def test_one_point_has_no_trend(history: list[Point]) -> None:
    assert trend_of(history, 100) == Trend()


def test_a_conversation_that_does_not_grow_never_gets_there() -> None:
    assert trend_of(points(50, 50, 50), 100) == Trend(tokens_per_turn=0)


def test_within_one_turn_only_minutes_can_be_told() -> None:
    assert trend_of([Point(0, 1, 100), Point(MINUTE, 1, 200)], 400) == Trend(minutes_left=2)


def test_over_the_limit_nothing_is_left() -> None:
    assert trend_of(points(100, 200), 150) == Trend(100, 0, 0)


@given(
    st.lists(st.builds(Point, st.integers(0, 10**13), st.integers(0, 10**6), st.integers(0, 10**8)), max_size=60),
    st.integers(1, 10**7),
)
def test_no_history_breaks_the_trend(history: list[Point], limit: int) -> None:
    trend = trend_of(sorted(history, key=lambda point: point.at), limit)
    assert trend.turns_left is None or trend.turns_left >= 0
