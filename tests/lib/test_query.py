from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.lib.query import (
    fts_query,
    names_file,
    query_words,
    snippet,
    words_of,
)

syntax = st.lists(
    st.sampled_from([*"\"'*^(){}:+-\x00²İ語", "NEAR(", "AND", "OR", "NOT", "text:"]) | st.text(max_size=4), max_size=12
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
        ("cafe\u0301s \u0301x", ["cafe\u0301s", "x"]),
        ("\ud83d half \udcff", ["half"]),
        ("?!", []),
        ("", []),
        ("the parser of [this issue](https://example.com/a/b): its cache fails", ["parser", "issue", "cache", "fails"]),
        ("what of https://example.com/a/b?", ["https", "example", "com", "b"]),
        ("close https://example.com", ["close", "https", "example", "com"]),
    ],
)
def test_a_query_becomes_its_telling_words(query: str, words: list[str]) -> None:
    assert query_words(query) == words


def test_a_query_has_at_most_sixty_four_words() -> None:
    assert len(query_words(" ".join(f"word{number}" for number in range(200)))) == 64


def test_a_snippet_is_the_part_round_the_match() -> None:
    text = "nothing " * 100 + "the needle lies here " + "nothing " * 100
    shown = snippet(text, ["needle"], 80)
    assert "**needle**" in shown
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert len(shown) <= 80 + len("…****")


@pytest.mark.parametrize("text", ["catalog", "logs", "log2", "cafe\u0301"])
def test_a_part_of_another_word_is_not_marked(text: str) -> None:
    assert snippet(text, ["log", "cafe"], 80) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("dialog log", "dialog **log**"),
        ("a_log", "a_**log**"),
        ("読log書", "読**log**書"),
        ("the LOG.", "the **LOG**."),
    ],
)
def test_a_word_is_marked_between_signs_and_cjk(text: str, shown: str) -> None:
    assert snippet(text, ["log"], 80) == shown


def test_a_snippet_is_where_most_of_the_words_stand() -> None:
    text = f"cache {'nothing ' * 100}the cache of the parser {'nothing ' * 100}parser"
    assert "**cache** of the **parser**" in snippet(text, ["parser", "cache"], 80)


@pytest.mark.parametrize("filling", ["x" * 400, "长" * 400, "🚀" * 400])
def test_a_match_in_a_text_without_spaces_is_shown(filling: str) -> None:
    assert "**needle**" in snippet(f"{filling}.needle.{filling} and more", ["needle"], 80)


def test_a_character_whose_lower_case_is_longer_shifts_no_mark() -> None:
    assert snippet("İstanbul needle", ["needle"], 80) == "İstanbul **needle**"


@given(
    st.text(), st.lists(st.text(st.characters(categories=["Ll", "Nd"]), min_size=1), max_size=5), st.integers(1, 100)
)
def test_a_snippet_is_a_part_of_the_text_with_marks(text: str, words: list[str], limit: int) -> None:
    plain = text.replace("*", "").replace("…", "")
    shown = snippet(plain, words, limit).replace("**", "").replace("…", "")
    assert shown in plain
    assert len(shown) <= limit


@pytest.mark.parametrize(
    ("text", "file", "is_named"),
    [
        ("edit src/app.py now", "app.py", True),
        ("edit src/app.py now", "src/app.py", True),
        ("see app.py.", "app.py", True),
        ("APP.PY", "app.py", True),
        ("'app.py':", "App.py", True),
        ("my_app.py and webapp.py", "app.py", False),
        ("app.pyc app.py_old", "app.py", False),
        ("tests.py", "test.py", False),
        ("a/tests.py", "b/tests.py", False),
        ("文档.md", "文档.md", True),
        ("", "app.py", False),
    ],
)
def test_a_file_is_named_by_the_end_of_its_path(text: str, file: str, is_named: bool) -> None:
    assert names_file(text, file) is is_named


@given(st.text(), st.text(min_size=1))
def test_any_text_and_any_file_name_are_compared(text: str, file: str) -> None:
    assert names_file(f"/{file}", file)
    assert not names_file(text, f"{text}x")


@given(st.text(st.characters(max_codepoint=127)))
def test_text_of_ascii_alone_has_the_words_that_it_has_among_others(text: str) -> None:
    assert words_of(text) == words_of(f"{text} é")[:-1]
