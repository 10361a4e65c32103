from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import NOW
from unified_state.lib.query import query_words, words_of
from unified_state.model.step import PROMPT, TEXT, TOOL_CALL, Step
from unified_state.search.rules.boosts import MOST_RAISED, Raising, lowered

DAY = 86_400_000


def raised(query: str, text: str, at: int = NOW, accessed: float = 0.0) -> float:
    step = Step(uuid="u", block=0, kind=PROMPT, at=at, text=text)
    return Raising(query, weights(query), NOW, {7: accessed}, [said(query, text)]).of(7, step, text)


def weights(query: str) -> dict[str, float]:
    return dict.fromkeys(query_words(query), 1.0)


def said(query: str, text: str) -> tuple[str, set[str]]:
    return text, set(words_of(text)).intersection(query_words(query))


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


def test_what_was_said_at_the_time_of_the_query_is_raised() -> None:
    assert raised("the parser yesterday", "x", at=NOW - DAY) > raised("the parser yesterday", "x", at=NOW) == 0


@pytest.mark.parametrize("text", [":", "a: b", f"{'x' * 50} ada: it fails", "Ada says it fails"])
def test_only_a_name_at_the_beginning_is_a_speaker_s(text: str) -> None:
    assert raised("what did Ada say?", text) == 0


@pytest.mark.parametrize(
    ("other", "is_less"),
    [
        ("Ben: the parser failed on Monday", True),
        ("the parser failed on Monday", True),
        ("Ben: the lexer failed", False),
    ],
)
def test_a_named_speaker_is_raised_less_where_another_said_more_of_what_is_asked(other: str, *, is_less: bool) -> None:
    query, own = "did the parser of Ada fail? it failed on Monday", "Ada: it failed again"
    step = Step(uuid="u", block=0, kind=PROMPT, at=NOW, text=own)
    alone, beside = (
        Raising(query, weights(query), NOW, {}, [said(query, text) for text in texts]).of(1, step, own)
        for texts in ([own], [own, other])
    )
    assert 0 < beside <= alone
    assert (beside < alone) == is_less


def test_of_two_named_speakers_neither_is_raised_less() -> None:
    query = "Ada and Ben on the parser"
    texts = [said(query, "Ada: yes"), said(query, "Ben: the parser")]
    raising = Raising(query, weights(query), NOW, {}, texts)
    step = Step(uuid="u", block=0, kind=PROMPT, at=NOW, text="")
    assert raising.of(1, step, "Ada: yes") == raising.of(2, step, "Ben: the parser") > 0


def test_what_was_asked_for_is_raised_less_than_by_anything_else() -> None:
    assert 0 < raised("parser", "x", accessed=1.0) < raised("the error in app.py", "app.py")


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
    by_server = [(_call("t6").replace(tool="mcp__unified-state__recall"), "S7")]
    by_server.append((_call("t7").replace(tool="mcp__unified-state__add_decision"), "recall"))
    low = lowered(steps + by_server)
    assert low.keys() == {"t1", "t2", "t6"}
    assert all(value < 0 for value in low.values())


def _call(identity: str | None) -> Step:
    return Step(uuid="u", block=0, kind=TOOL_CALL, at=NOW, text="{}", tool="Bash", tool_use_id=identity)
