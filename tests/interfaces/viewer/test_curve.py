"""The curve of a session's context: where its points, its compactions and the limit lie in a box of 800 by 80."""

from __future__ import annotations

import pytest

from unified_state.interfaces.viewer.session_pages import Curve, draw_curve

TURNS = [100, 200, 300, 400]  # four turns, 200 wide each


def drawn(curve: Curve | None) -> Curve:
    assert curve is not None
    return curve


def test_a_point_lies_at_the_end_of_its_turn_as_high_as_it_has_tokens() -> None:
    curve = drawn(draw_curve(TURNS, [(150, 1_000), (250, 4_000)], [], None))
    assert curve.points == "200.0,80.0 200.0,60.0 400.0,0.0"
    assert curve.most == 4_000
    assert (curve.cuts, curve.limit) == ((), None)


def test_after_a_compaction_the_curve_begins_at_the_bottom_again() -> None:
    curve = drawn(draw_curve(TURNS, [(150, 1_000), (350, 500)], [(250, 2_000)], None))
    assert curve.points == "200.0,80.0 200.0,40.0 400.0,0.0 400.0,80.0 600.0,60.0"
    assert curve.cuts == (400.0,)


def test_the_limit_is_in_the_box_however_low_the_curve_is() -> None:
    curve = drawn(draw_curve(TURNS, [(150, 1_000)], [], 4_000))
    assert (curve.limit, curve.most) == (0.0, 4_000)
    curve = drawn(draw_curve(TURNS, [(150, 8_000)], [], 4_000))
    assert (curve.limit, curve.most) == (40.0, 8_000)


def test_the_area_goes_down_to_the_bottom_at_both_ends() -> None:
    curve = drawn(draw_curve(TURNS, [(250, 4_000)], [], None))
    assert curve.area == "200.0,80 200.0,80.0 400.0,0.0 400.0,80"


@pytest.mark.parametrize(("turns", "points"), [([], [(100, 1)]), (TURNS, [])])
def test_where_nothing_is_known_there_is_no_curve(turns: list[int], points: list[tuple[int, int]]) -> None:
    assert draw_curve(turns, points, [], 4_000) is None


def test_a_session_of_no_tokens_divides_by_nothing() -> None:
    assert drawn(draw_curve(TURNS, [(150, 0)], [], None)).points == "200.0,80.0 200.0,80.0"
