from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.builders import MINUTE, NOW, uuid_of
from unified_state.archive.archive import Archive
from unified_state.archive.full_text import (
    Filters,
    best_matches,
    count_having,
    count_steps,
    count_words,
    rarest,
)
from unified_state.archive.sessions import touch_session
from unified_state.archive.text_columns import forget_step
from unified_state.archive.word_forms import forms_of
from unified_state.archive.write_steps import StepWriter
from unified_state.lib.query import query_words, words_of
from unified_state.lib.text import index_text, pack
from unified_state.model.step import PROMPT, TOOL_CALL, TOOL_RESULT, Step
from unified_state.search.search_archive import search


def fill(archive: Archive, *texts: str, session: str = "s") -> int:
    """Texts as prompts, a minute apart; the session's number."""
    steps = [Step(uuid="", block=0, kind=PROMPT, at=NOW + n * MINUTE, text=text) for n, text in enumerate(texts)]
    return fill_steps(archive, *steps, session=session)


def fill_steps(archive: Archive, *steps: Step, session: str = "s") -> int:
    with archive.transaction():
        number = touch_session(archive, session, NOW)
        writer = StepWriter(archive, number, None)
        for step in steps:
            (last,) = archive.row("SELECT count(*) FROM step")
            uuid = step.uuid or uuid_of(last + 1)
            writer.add(step.replace(uuid=uuid, starts_turn=step.kind == PROMPT), pack(step.text))
    return number


def matches(archive: Archive, query: str, filters: Filters | None = None, limit: int = 60) -> list[int]:
    steps = count_steps(archive)
    having = count_having(archive, query_words(query), steps)
    return list(best_matches(archive, having, steps, filters or Filters(), limit))


def test_words_are_counted_by_their_stem(archive: Archive) -> None:
    fill(archive, "cached values", "the cache", "no such word", "数据库很大")
    assert count_having(archive, ["caching", "数据", "库", "lost"], 4) == {"caching": 2, "数据": 1, "库": 1, "lost": 0}


def test_in_a_large_archive_words_are_counted_in_the_newest_steps_and_projected(archive: Archive) -> None:
    fill(archive, *["old"] * 1_000, *["new"] * 20_000)
    assert count_having(archive, ["old", "new", "lost"], 21_000) == {"old": 1, "new": 21_000, "lost": 0}


def test_of_very_many_words_the_rarest_that_any_step_has_are_searched() -> None:
    having = {f"word{number}": number % 150 for number in range(400)}
    assert list(rarest(having).values()) == sorted(count for count in having.values() if count)[:100]
    assert rarest({"common": 9, "lost": 0}) == {"lost": 0, "common": 9}


def test_the_step_with_more_of_the_words_is_first(archive: Archive) -> None:
    fill(archive, "the cache", "the parser of the cache", "the lock")
    assert matches(archive, "cache parser") == [2, 1]


def test_of_equal_steps_the_newest_is_first(archive: Archive) -> None:
    fill(archive, "the cache", "the cache", "the cache")
    assert matches(archive, "cache") == [3, 2, 1]
    assert matches(archive, "cache", limit=2) == [3, 2]


def test_a_word_that_is_nowhere_hides_no_common_one(archive: Archive) -> None:
    """The rarest words choose; one that nobody ever wrote chooses nothing."""
    fill(archive, *["common word"] * 6_000)
    assert matches(archive, "typpo common", limit=3) == [6_000, 5_999, 5_998]


def test_a_rare_word_of_long_ago_is_found_among_common_ones(archive: Archive) -> None:
    fill(archive, "rare common", *["common word"] * 21_000)
    assert matches(archive, "rare common word", limit=3) == [1, 21_001, 21_000]


def test_of_too_many_matches_those_with_all_words_come_first_however_old(archive: Archive) -> None:
    fill(archive, "common word", *["common"] * 300, *["word"] * 300)
    having = {"common": 30_000, "word": 30_000}
    assert next(iter(best_matches(archive, having, 1_000_000, Filters(), 2))) == 1


def test_a_form_of_a_word_is_the_word(archive: Archive) -> None:
    fill(archive, "we went home", "at a24b142f99 of main", "the get_user_profile call", "to go")
    forms = {"go": ("went",), "a24b142": ("a24b142*",), "getuserprofile": ("get user profile",)}
    assert count_having(archive, list(forms), 4, forms) == {"go": 2, "a24b142": 1, "getuserprofile": 1}
    texts = ["we went home, go", "a24b142f99", "get_user_profile", "user get profile"]
    assert count_words(texts, list(forms), forms) == [{"go": 2}, {"a24b142": 1}, {"getuserprofile": 1}, {}]


def test_a_filter_finds_what_is_old_and_common(archive: Archive) -> None:
    first = fill(archive, "common a.py", session="old")
    fill(archive, *["common word"] * 6_000)
    assert matches(archive, "common", Filters(session=first)) == [1]
    assert matches(archive, "common", Filters(until=NOW + 1), limit=2) == [2, 1]
    assert matches(archive, "common", Filters(file="a.py")) == [1]


def test_a_forgotten_step_matches_no_more(archive: Archive) -> None:
    fill(archive, "the cache", "the cache")
    forget_step(archive, 1)
    assert matches(archive, "cache") == [2]


def test_times_are_from_since_to_before_until(archive: Archive) -> None:
    fill(archive, "cache", "cache", "cache")
    assert matches(archive, "cache", Filters(since=NOW + MINUTE, until=NOW + 2 * MINUTE)) == [2]


@pytest.fixture
def with_tools(archive: Archive) -> Archive:
    """Steps 1 to 4: a prompt, a call of Bash, its result, a call of Read."""
    fill_steps(
        archive,
        Step(uuid="", block=0, kind=PROMPT, at=NOW, text="run the cache"),
        _call("Bash", "t1", command="cache --clear src/app.py"),
        Step(uuid="", block=0, kind=TOOL_RESULT, at=NOW, text="cache cleared", tool_use_id="t1"),
        _call("Read", "t2", file_path="src/tests.py", note="cache"),
    )
    return archive


def _call(tool: str, identity: str, **given: str) -> Step:
    return Step(uuid="", block=0, kind=TOOL_CALL, at=NOW, text=json.dumps(given), tool=tool, tool_use_id=identity)


@pytest.mark.parametrize(
    ("file", "found"),
    [("app.py", [2]), ("src/app.py", [2]), ("APP.py", [2]), ("tests.py", [4]), ("test.py", []), ("lost.py", [])],
)
def test_a_file_filter_has_what_names_that_very_file(with_tools: Archive, file: str, found: list[int]) -> None:
    assert matches(with_tools, "cache", Filters(file=file)) == found


@pytest.mark.parametrize("file", ["文档.md", "a b.py", "x-y_z.py", "ein-é.py"])
def test_a_file_of_any_name_is_found(archive: Archive, file: str) -> None:
    fill(archive, f"the cache in lib/{file}", "the cache")
    assert matches(archive, "cache", Filters(file=file)) == [1]


@pytest.mark.parametrize(
    "file", ['"', 'a" OR "b', "a*", "NEAR(a b)", "text:a", "^a", "a\x00b", "\ud83d", "x" * 100_000]
)
def test_a_file_name_is_never_read_as_syntax(archive: Archive, file: str) -> None:
    fill(archive, "the cache")
    assert matches(archive, "cache", Filters(file=file)) == []


def test_accents_are_counted_as_the_letters_they_stand_on() -> None:
    assert count_words(["café cafe\u0301 cafe"], ["cafe\u0301"]) == [{"cafe\u0301": 3}]


@given(st.lists(st.text(), max_size=4), st.text())
def test_any_texts_can_be_counted(texts: list[str], query: str) -> None:
    words = query_words(query)
    counted = count_words([index_text(text) for text in texts], words)
    assert len(counted) == len(texts)
    assert all(found.keys() <= set(words) for found in counted)


TEXTS = (
    "the getUserProfile parser in src/app.py",
    "get user profile by a24b142c0f and test.py",
    "数据库很大, the naïve café",
    "a profile of the user, got by others, in app.pyc",
)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("parser", {1}),
        ("getUserProfile", {1, 2}),
        ("profile", {1, 2, 4}),
        ("a24b142", {2}),
        ("a24b142c0ffee1234", {2}),
        ("数", {3}),
        ("数据库", {3}),
        ("cafe", {3}),
        ('"user profile" OR NOT (parser*', {1, 2, 4}),
        ("naïve café", {3}),
    ],
)
def test_every_kind_of_query_is_answered(archive: Archive, query: str, found: set[int]) -> None:
    fill(archive, *TEXTS)
    words = query_words(query)
    forms = forms_of(query, words)
    having = count_having(archive, words, 4, forms)
    assert set(best_matches(archive, having, 4, Filters(), 10, forms)) >= found
    assert {int(hit.ref[1:]) for hit in search(archive, query, 10)} >= found


@example(query="0\u03320")  # an accent to Python, none to SQLite
@given(query=st.text(st.characters(codec="utf-8") | st.sampled_from("aé½数\u0301\u0332 ")))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_no_query_is_refused(archive: Archive, query: str) -> None:
    if not count_steps(archive):
        fill(archive, *TEXTS)
    matches(archive, query)
    if words_of(query):
        matches(archive, "profile", Filters(file=query))
