from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.rules.querying import STOP_WORDS, fts_query, query_words, snippet

syntax = st.lists(
    st.sampled_from(
        [
            '"',
            "'",
            "*",
            "^",
            "(",
            ")",
            "{",
            "}",
            ":",
            "+",
            "-",
            "NEAR(",
            "AND",
            "OR",
            "NOT",
            "text:",
            "\x00",
            "²",
            "İ",
            "語",
        ]
    )
    | st.text(max_size=4),
    max_size=12,
).map(" ".join)


@given(syntax | st.text(st.characters() | st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF)))
def test_no_query_is_ever_read_as_syntax(query: str) -> None:
    words = query_words(query)
    if not words:
        return
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE step_text USING fts5 (text, content='', tokenize='porter unicode61')")
    connection.execute("INSERT INTO step_text (rowid, text) VALUES (1, 'words')")
    connection.execute("SELECT rowid FROM step_text WHERE step_text MATCH ?", (fts_query(words),)).fetchall()
    connection.close()


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("Why did we choose SQLite?", ["choose", "sqlite"]),
        ("what is it", ["what", "is", "it"]),
        ("sqlite SQLite SQLITE", ["sqlite"]),
        ("src/app.py:12", ["src", "app", "py", "12"]),
        ("数据库", ["数据", "据库", "库"]),
        ("?!", []),
        ("", []),
    ],
)
def test_a_query_becomes_its_telling_words(query: str, words: list[str]) -> None:
    assert query_words(query) == words


def test_a_query_has_at_most_sixty_four_words() -> None:
    assert len(query_words(" ".join(f"word{number}" for number in range(200)))) == 64


def test_stop_words_are_the_commonest_english_words() -> None:
    assert {"the", "and", "of"} <= STOP_WORDS


def test_any_of_the_words_matches() -> None:
    assert fts_query(["near", "or"]) == '"near" OR "or"'


def test_a_single_cjk_character_matches_the_pairs_that_begin_with_it() -> None:
    assert fts_query(["库", "a"]) == '"库"* OR "a"'


def test_a_snippet_is_the_part_round_the_match() -> None:
    text = "nothing " * 100 + "the needle lies here " + "nothing " * 100
    shown = snippet(text, ["needle"], 80)
    assert "**needle**" in shown
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert len(shown) <= 80 + len("…****")


def test_a_snippet_of_a_short_text_is_all_of_it() -> None:
    assert snippet("Use SQLite for it", ["sqlite"], 80) == "Use **SQLite** for it"


def test_a_snippet_without_a_match_is_the_beginning() -> None:
    assert snippet("one two three", ["porter"], 9) == "one two …"


def test_matches_that_overlap_are_marked_once() -> None:
    assert snippet("abcabc", ["abca", "bcab"], 80) == "**abca**bc"


def test_every_occurrence_is_marked() -> None:
    assert snippet("a b a", ["a"], 80) == "**a** b **a**"


def test_a_text_whose_lower_case_is_longer_is_shown_without_marks() -> None:
    assert snippet("İstanbul needle", ["needle"], 80) == "İstanbul needle"


@given(
    st.text(), st.lists(st.text(st.characters(categories=["Ll", "Nd"]), min_size=1), max_size=5), st.integers(1, 100)
)
def test_a_snippet_is_a_part_of_the_text_with_marks(text: str, words: list[str], limit: int) -> None:
    plain = text.replace("*", "").replace("…", "")
    shown = snippet(plain, words, limit).replace("**", "").replace("…", "")
    assert shown in plain
    assert len(shown) <= limit
