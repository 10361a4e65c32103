from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.search.rules.fusion import MOST_FUSED, MOST_MEANT, fused, nearness, without
from unified_state.search.rules.relevance import MOST, Looked


def steps(*sessions: int) -> dict[int, Looked]:
    """Steps 1, 2 … of these sessions, each a neighbour of the one before it in the same session."""
    numbered = dict(enumerate(sessions, 1))
    return {
        number: Looked(
            number=number,
            session=session,
            before=number - 1 if numbered.get(number - 1) == session else None,
            after=number + 1 if numbered.get(number + 1) == session else None,
            counts={},
            length=1,
        )
        for number, session in numbered.items()
    }


def test_the_nearest_step_is_first() -> None:
    near = nearness(steps(1, 2, 3), {1: 0.1, 2: 0.7, 3: 0.3})
    assert near[2] > near[3] > near[1]
    assert near[2] == pytest.approx(MOST_MEANT)
    assert near[1] == 0


def test_a_step_beside_a_near_one_is_nearer_than_one_that_stands_alone() -> None:
    near = nearness(steps(1, 1, 2, 3), {1: 0.9, 2: 0.2, 3: 0.2, 4: 0.0})
    assert near[2] > near[3]


def test_a_step_counts_for_the_one_behind_it_more_than_for_the_one_before_it() -> None:
    near = nearness(steps(1, 1, 1), {1: 0.2, 2: 0.9, 3: 0.2})
    assert near[3] > near[1]


def test_the_session_of_a_near_step_counts_for_its_others() -> None:
    looked = {number: step.replace(before=None, after=None) for number, step in steps(1, 1, 2, 3).items()}
    near = nearness(looked, {1: 0.9, 2: 0.2, 3: 0.2, 4: 0.0})
    assert near[2] > near[3]


def test_a_step_without_a_vector_counts_for_none_beside_it() -> None:
    assert nearness(steps(1, 1, 2), {1: 0.9, 3: 0.1}) == {1: pytest.approx(MOST_MEANT), 3: 0}


def test_without_any_vector_words_decide() -> None:
    scores = fused({1: 0.4, 2: 0.8}, steps(1, 2), {}, 1.0)
    assert scores[2] == pytest.approx(2 * scores[1])


def test_a_step_that_has_no_vector_yet_loses_nothing_to_others_that_have() -> None:
    scores = fused({1: 1.6, 2: 0.4, 3: 0.0}, steps(1, 2, 3), {2: 0.4, 3: 0.1}, 1.0)
    assert scores[1] > scores[2] > scores[3]


def test_a_model_that_is_trusted_less_counts_less() -> None:
    relevances, cosines = {1: 1.0, 2: 0.5}, {1: 0.1, 2: 0.7}
    assert fused(relevances, steps(1, 2), cosines, 1.0)[2] > 1.0 > fused(relevances, steps(1, 2), cosines, 0.2)[2]


def test_two_that_count_alike_spread_no_wider_than_one_so_that_what_raises_a_step_counts_as_much() -> None:
    alone, beside = {1: MOST, 2: 0.0}, {1: 0.9, 2: 0.1}
    assert fused(alone, steps(1, 2), beside, MOST / MOST_MEANT)[1] == pytest.approx(MOST_FUSED)
    apart = fused({1: MOST, 2: 0.0}, steps(1, 2), {1: 0.1, 2: 0.9}, MOST / MOST_MEANT)
    assert apart[1] == pytest.approx(apart[2]) == pytest.approx(MOST_FUSED / 2)


@given(st.lists(st.tuples(st.floats(0, MOST), st.none() | st.floats(-1, 1))), st.floats(0, 1))
def test_what_is_fused_has_bounds(drawn: list[tuple[float, float | None]], trust: float) -> None:
    relevances = {number: relevant for number, (relevant, _) in enumerate(drawn, 1)}
    cosines = {number: cosine for number, (_, cosine) in enumerate(drawn, 1) if cosine is not None}
    found = fused(relevances, steps(*(1 for _ in drawn)), cosines, trust)
    assert all(0 <= value <= MOST_FUSED + 1e-9 for value in found.values())


@given(st.lists(st.tuples(st.integers(1, 3), st.none() | st.floats(-1, 1))))
def test_nearness_has_bounds(drawn: list[tuple[int, float | None]]) -> None:
    cosines = {number: cosine for number, (_, cosine) in enumerate(drawn, 1) if cosine is not None}
    near = nearness(steps(*(session for session, _ in drawn)), cosines)
    assert all(0 <= value <= MOST_MEANT + 1e-9 for value in near.values())


@pytest.mark.parametrize(
    ("query", "common", "left"),
    [
        ("When did Ada run the race?", {"ada"}, "When did run the race?"),
        ("Ada's parrot", {"ada"}, "parrot"),
        ("Ada? (Ada!)", {"ada"}, "Ada? (Ada!)"),
        ("the parser", set(), "the parser"),
        ("", {"ada"}, ""),
    ],
)
def test_a_query_is_read_without_the_words_that_tell_nothing_apart(query: str, common: set[str], left: str) -> None:
    assert without(query, common) == left
