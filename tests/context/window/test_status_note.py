from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from unified_state.context.window.rules.context_phase import outlook, phase_of, trend_of
from unified_state.context.window.status_note import noted_glance
from unified_state.model.context_usage import PHASES, Point

COUNTS = {"counts": {"items": 1, "blocking": 0, "waiting": 0}, "saved_at": None, "stale": 3}
NOW = 10**12
SIZES = st.integers(0, 40)  # few, so that many are equal


@given(
    st.lists(st.builds(Point, st.integers(0, NOW), st.integers(0, 60), SIZES), max_size=30),
    SIZES,
    st.integers(1, 50),
    st.sampled_from(PHASES),
    st.tuples(st.integers(1, 100), st.integers(1, 100)),
)
def test_a_note_gives_the_phase_and_the_trend_that_the_whole_history_gives(
    history: list[Point], tokens: int, limit: int, before: str, thresholds: tuple[int, int]
) -> None:
    history.sort(key=lambda point: (point.turn, point.at))
    glance = noted_glance({**COUNTS, **outlook(history, limit, before, thresholds)}, (tokens, 60, None), NOW)
    if history and history[-1].tokens != tokens:  # the current turn
        history.append(Point(NOW, history[-1].turn + 1, tokens))
    trend = trend_of(history, limit)
    assert (glance.turns_left, glance.minutes_left) == (trend.turns_left, trend.minutes_left)
    assert glance.phase == phase_of(tokens * 100 / limit, before, thresholds)
    assert (glance.tokens, glance.compacts_at, glance.stale) == (tokens, limit, 3)


def test_before_the_first_answer_a_note_gives_the_counts() -> None:
    glance = noted_glance(COUNTS, None, NOW)
    assert (glance.tokens, glance.compacts_at, glance.items) == (None, None, 1)
