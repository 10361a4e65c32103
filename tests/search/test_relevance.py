from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from unified_state.search.rules.relevance import MOST, Looked, coverage, inverse_frequency, relevance

WEIGHTS = {"parser": 3.0, "cache": 1.0}


def looked(*steps: tuple[int, int, dict[str, float]], length: int = 10) -> dict[int, Looked]:
    """Steps by their number, session and words; one is beside another if their numbers and sessions say so."""
    sessions = {number: session for number, session, _ in steps}
    return {
        number: Looked(
            number=number,
            session=session,
            before=number - 1 if sessions.get(number - 1) == session else None,
            after=number + 1 if sessions.get(number + 1) == session else None,
            counts=counts,
            length=length,
        )
        for number, session, counts in steps
    }


def order(steps: dict[int, Looked]) -> list[int]:
    """The numbers of the steps, the best first."""
    scores = relevance(steps, WEIGHTS)
    return sorted(scores, key=lambda number: -scores[number])


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    assert inverse_frequency(1000, 1) > inverse_frequency(1000, 300) > 0


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_every_word_weighs_something_also_where_steps_are_added_while_they_are_counted(steps: int, having: int) -> None:
    weight = inverse_frequency(steps, having)
    assert math.isfinite(weight)
    assert weight > 0


def test_the_step_with_the_heavier_word_is_better() -> None:
    assert order(looked((1, 1, {"cache": 1.0}), (5, 2, {"parser": 1.0}))) == [5, 1]


def test_the_step_with_both_words_is_best() -> None:
    assert order(looked((1, 1, {"parser": 1.0}), (5, 2, {"parser": 1.0, "cache": 1.0})))[0] == 5


def test_more_of_a_word_counts_less_and_less() -> None:
    steps = looked((1, 1, {"parser": 20.0}), (5, 2, {"parser": 1.0, "cache": 1.0}))
    scores = relevance(steps, WEIGHTS)
    assert scores[1] < 2.2 * scores[5]


def test_a_longer_step_is_worse_with_the_same_words() -> None:
    short, long = looked((1, 1, {"parser": 1.0}), length=10), looked((5, 2, {"parser": 1.0}), length=200)
    assert order({**short, **long}) == [1, 5]


def test_a_step_beside_a_match_is_better_than_one_far_away() -> None:
    scores = relevance(looked((1, 1, {"parser": 1.0}), (2, 1, {}), (9, 1, {})), WEIGHTS)
    assert scores[1] > scores[2] > scores[9]


def test_a_match_beside_a_match_is_better_than_one_alone() -> None:
    scores = relevance(looked((1, 1, {"parser": 1.0}), (2, 1, {"cache": 1.0}), (9, 2, {"parser": 1.0})), WEIGHTS)
    assert scores[1] > scores[9]


def test_a_step_of_another_session_is_never_beside() -> None:
    scores = relevance(looked((1, 1, {"parser": 1.0}), (2, 2, {})), WEIGHTS)
    assert scores[2] == 0


def test_the_session_that_speaks_of_it_more_is_better() -> None:
    steps = looked((1, 1, {"parser": 1.0}), (5, 1, {"cache": 1.0}), (11, 2, {"parser": 1.0}))
    scores = relevance(steps, WEIGHTS)
    assert scores[1] > scores[11]


counts = st.dictionaries(st.sampled_from(sorted(WEIGHTS)), st.floats(1, 1000), max_size=2)
sessions = st.lists(st.tuples(st.integers(1, 3), counts), max_size=12)


@given(sessions)
def test_every_score_and_every_coverage_is_within_its_bounds(
    given: list[tuple[int, dict[str, float]]],
) -> None:
    steps = looked(*((number, session, found) for number, (session, found) in enumerate(given)))
    scores = relevance(steps, WEIGHTS)
    assert scores.keys() == steps.keys()
    assert all(0 <= score <= MOST + 1e-9 for score in scores.values())
    assert all(0 <= coverage(step, steps, WEIGHTS) <= 1 for step in steps.values())


@given(sessions)
def test_the_same_steps_have_the_same_scores(given: list[tuple[int, dict[str, float]]]) -> None:
    steps = looked(*((number, session, found) for number, (session, found) in enumerate(given)))
    assert relevance(steps, WEIGHTS) == relevance(dict(steps), dict(WEIGHTS))


def test_no_step_at_all_has_no_score() -> None:
    assert relevance({}, WEIGHTS) == {}
    assert coverage(looked((1, 1, {}))[1], {}, {}) == 0


def test_coverage_is_the_weight_of_the_words_in_a_step_and_beside_it() -> None:
    steps = looked((1, 1, {"cache": 1.0}), (2, 1, {"parser": 2.0}), (3, 1, {}), (9, 1, {}))
    assert [coverage(step, steps, WEIGHTS) for step in steps.values()] == [1.0, 1.0, 0.75, 0.0]
