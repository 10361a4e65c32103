from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from unified_state.context.window.rules.context_picture import draw_context
from unified_state.model.context_usage import Point


def test_tokens_over_turns_with_the_compactions_marked() -> None:
    sizes = [20, 60, 100, 140, 160, 20, 60, 100]
    history = [Point(turn, turn, size * 1_000) for turn, size in enumerate(sizes, 1)]
    assert draw_context(history, [6], 160_000) == [
        "             ▼",
        "  160k │┄┄┄┄█┄┄┄┄┄",
        "       │   ██",
        "       │   ██",
        "       │  ███  █",
        "       │  ███  █",
        "       │ ████ ██",
        "       │ ████ ██",
        "       │████████",
        "     0 └────────",
        "  turn  1      8",
    ]


def test_without_points_there_is_no_picture() -> None:
    assert draw_context([], [1], 160_000) == []


def test_a_compaction_before_the_history_has_no_mark() -> None:
    assert "▼" not in "".join(draw_context([Point(5, 1, 10)], [1], 100))


@given(
    st.lists(st.builds(Point, st.integers(0, 10**13), st.integers(0, 10**6), st.integers(0, 10**8)), max_size=50),
    st.lists(st.integers(0, 10**13)),
    st.integers(1, 10**8),
)
def test_every_history_fits_its_columns(history: list[Point], cuts: list[int], limit: int) -> None:
    for line in draw_context(history, cuts, limit):
        assert len(line) <= 8 + max(len(history), 15) + 2
