from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.lib.decay import raised, score

HALF_LIFE = 40.0  # any number: the callers choose
clocks = st.integers(0, 2_000_000)
sightings = st.lists(st.tuples(st.floats(0.1, 10.0), clocks), min_size=1, max_size=30)


def level_after(seen: list[tuple[float, int]]) -> float:
    level = None
    for weight, clock in sorted(seen, key=lambda sighting: sighting[1]):
        level = raised(level, weight, clock, HALF_LIFE)
    assert level is not None
    return level


@given(sightings, clocks)
def test_the_score_is_the_sum_of_all_sightings_each_halved_with_every_half_life(
    seen: list[tuple[float, int]], later: int
) -> None:
    now = max(clock for _, clock in seen) + later
    expected = sum(weight * 0.5 ** ((now - clock) / HALF_LIFE) for weight, clock in seen)
    assert score(level_after(seen), now, HALF_LIFE) == pytest.approx(expected, rel=1e-6, abs=1e-12)


@given(sightings, sightings, st.integers(0, 1000))
def test_levels_stand_in_the_order_of_the_scores_at_any_later_time(
    one: list[tuple[float, int]], other: list[tuple[float, int]], later: int
) -> None:
    now = max(clock for _, clock in one + other) + later
    scores = score(level_after(one), now, HALF_LIFE), score(level_after(other), now, HALF_LIFE)
    if not math.isclose(*scores, rel_tol=1e-6, abs_tol=1e-12):
        assert (level_after(one) > level_after(other)) == (scores[0] > scores[1])


@pytest.mark.parametrize("level", [1e300, -1e300])
def test_a_level_that_the_disk_has_changed_is_a_number_and_no_error(level: float) -> None:
    assert math.isfinite(score(level, 7, HALF_LIFE))
    assert math.isfinite(raised(level, 1.0, 7, HALF_LIFE))
