from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import NOW
from unified_state.lib.query import query_words
from unified_state.model.step import PROMPT, TEXT, TOOL_CALL, TOOL_RESULT, Step
from unified_state.search.rules.relevance import (
    MOST,
    MOST_FUSED,
    MOST_MEANT,
    MOST_RAISED,
    Boosts,
    CandidateStep,
    best_passage,
    coverage,
    fused,
    inverse_frequency,
    lowered,
    nearness,
    relevance,
    without,
)

WEIGHTS = {"parser": 3.0, "cache": 1.0}


def looked(*steps: tuple[int, int, dict[str, float]], length: int = 10) -> dict[int, CandidateStep]:
    """Steps by their number, session and words; one is beside another if their numbers and sessions say so."""
    sessions = {number: session for number, session, _ in steps}
    return {
        number: CandidateStep(
            number=number,
            session=session,
            before=number - 1 if sessions.get(number - 1) == session else None,
            after=number + 1 if sessions.get(number + 1) == session else None,
            counts=counts,
            length=length,
        )
        for number, session, counts in steps
    }


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    assert inverse_frequency(1000, 1) > inverse_frequency(1000, 300) > 0


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_every_word_weighs_something_also_where_steps_are_added_while_they_are_counted(steps: int, having: int) -> None:
    weight = inverse_frequency(steps, having)
    assert math.isfinite(weight)
    assert weight > 0


def test_a_step_beside_a_match_is_better_than_one_far_away() -> None:
    scores = relevance(looked((1, 1, {"parser": 1.0}), (2, 1, {}), (9, 1, {})), WEIGHTS)
    assert scores[1] > scores[2] > scores[9]


def test_words_beside_a_long_step_hardly_count_for_it() -> None:
    cache, parser = {"cache": 1.0}, {"parser": 1.0}
    short = looked((1, 1, parser), (2, 1, cache), (9, 2, cache), (30, 2, parser), length=40)
    long = {number: step.replace(length=2_000) for number, step in short.items()}
    beside, alone = (relevance(steps, WEIGHTS) for steps in (short, long))
    assert beside[2] > 1.5 * beside[9]
    assert alone[2] < 1.1 * alone[9]


def test_a_long_step_counts_by_its_best_passage() -> None:
    together, apart = ({"parser": 1.0, "cache": 1.0}, {"parser": 1.0})
    steps = looked((1, 1, together), (9, 2, together), length=2_000)
    scores = relevance({1: steps[1].replace(passage=apart), 9: steps[9].replace(passage=together)}, WEIGHTS)
    assert scores[9] > scores[1]


def test_the_best_passage_has_the_heaviest_words_together() -> None:
    places = {"parser": [10, 5_000], "cache": [4_900, 9_000, 9_001]}
    assert best_passage(places, WEIGHTS) == {"parser": 1, "cache": 1}
    assert best_passage({}, WEIGHTS) == {}


def test_a_prompt_stands_above_the_long_answer_that_repeats_it() -> None:
    steps = looked((1, 1, {"parser": 1.0, "cache": 1.0}), (2, 1, {"parser": 2.0, "cache": 1.0}))
    scores = relevance({1: steps[1].replace(is_prompt=True), 2: steps[2].replace(length=600)}, WEIGHTS)
    assert scores[1] > scores[2]


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


def test_coverage_is_the_weight_of_the_words_in_a_step_and_beside_it() -> None:
    steps = looked((1, 1, {"cache": 1.0}), (2, 1, {"parser": 2.0}), (3, 1, {}), (9, 1, {}))
    assert [coverage(step, steps, WEIGHTS) for step in steps.values()] == [1.0, 1.0, 0.75, 0.0]


def steps(*sessions: int) -> dict[int, CandidateStep]:
    """Steps 1, 2 … of these sessions, each a neighbour of the one before it in the same session."""
    numbered = dict(enumerate(sessions, 1))
    return {
        number: CandidateStep(
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


def test_a_step_counts_for_the_one_behind_it_more_than_for_the_one_before_it() -> None:
    near = nearness(steps(1, 1, 1), {1: 0.2, 2: 0.9, 3: 0.2})
    assert near[3] > near[1]


def test_a_step_that_has_no_vector_yet_loses_nothing_to_others_that_have() -> None:
    scores = fused({1: 1.6, 2: 0.4, 3: 0.0}, steps(1, 2, 3), {2: 0.4, 3: 0.1}, 1.0)
    assert scores[1] > scores[2] > scores[3]


def test_a_model_that_is_trusted_less_counts_less() -> None:
    relevances, cosines = {1: 1.0, 2: 0.5}, {1: 0.1, 2: 0.7}
    assert fused(relevances, steps(1, 2), cosines, 1.0)[2] > 1.0 > fused(relevances, steps(1, 2), cosines, 0.2)[2]


@given(st.lists(st.tuples(st.floats(0, MOST), st.none() | st.floats(-1, 1))), st.floats(0, 1))
def test_what_is_fused_has_bounds(drawn: list[tuple[float, float | None]], trust: float) -> None:
    relevances = {number: relevant for number, (relevant, _) in enumerate(drawn, 1)}
    cosines = {number: cosine for number, (_, cosine) in enumerate(drawn, 1) if cosine is not None}
    found = fused(relevances, steps(*(1 for _ in drawn)), cosines, trust)
    assert all(0 <= value <= MOST_FUSED + 1e-9 for value in found.values())


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


def raised(query: str, text: str, at: int = NOW, accessed: float = 0.0) -> float:
    step = Step(uuid="u", block=0, kind=PROMPT, at=at, text=text)
    return Boosts(query, set(query_words(query)), NOW, {7: accessed}).of(7, step, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("what did Ada say of the parser?", "Ada: it fails"),
        ("the error in src/app.py", "edited src/app.py"),
        ("When did we deploy?", "We deployed it last Friday."),
    ],
)
def test_what_fits_the_query_is_raised(query: str, text: str) -> None:
    assert raised(query, text) > raised(query, "something else") == 0


@pytest.mark.parametrize("text", [":", "a: b", f"{'x' * 50} ada: it fails", "Ada says it fails"])
def test_only_a_name_at_the_beginning_is_a_speaker_s(text: str) -> None:
    assert raised("what did Ada say?", text) == 0


def test_an_output_has_no_speaker() -> None:
    step = Step(uuid="u", block=0, kind=TOOL_RESULT, at=NOW, text="port: 8443")
    assert Boosts("which port?", {"port"}, NOW, {}).of(7, step, step.text) == 0


@given(st.text(), st.text(), st.integers(), st.floats(0, 1))
def test_nothing_is_raised_beyond_the_bound(query: str, text: str, at: int, accessed: float) -> None:
    assert 0 <= raised(query, text, at, accessed) <= MOST_RAISED


def test_what_an_agent_looked_up_is_lowered_with_its_result() -> None:
    steps = [
        (_call("t1"), "Bash\nunified-state search parser"),
        (_call("t2"), "Bash\ncd src; unified-state recall S7 | head"),
        (_call("t3"), "Bash\nunified-state status"),
        (_call(None), "Bash\nunified-state search parser"),
        (_call("t5").replace(kind=TEXT), "`unified-state search ` finds it"),
    ]
    by_server = [(_call("t6").replace(tool="mcp__unified-state__show"), "S7")]
    by_server.append((_call("t7").replace(tool="mcp__unified-state__add"), "show"))
    low = lowered(steps + by_server)
    assert low.keys() == {"t1", "t2", "t6"}
    assert all(value < 0 for value in low.values())


def _call(identity: str | None) -> Step:
    return Step(uuid="u", block=0, kind=TOOL_CALL, at=NOW, text="{}", tool="Bash", tool_use_id=identity)
