from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.archive.word_forms import forms_of
from unified_state.lib.query import fts_query, query_words
from unified_state.lib.text import is_hash, parts_of_names, split_name


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("getUserProfile", ["get", "User", "Profile"]),
        ("HTTPServerError", ["HTTP", "Server", "Error"]),
        ("TS2345", ["TS", "2345"]),
        ("utf8", ["utf", "8"]),
        ("parser", ["parser"]),
        ("", [""]),
    ],
)
def test_a_name_is_split_where_its_letters_change(name: str, parts: list[str]) -> None:
    assert split_name(name) == parts


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("call getUserProfile() twice: getUserProfile()", "get profile user userprofile"),
        ("HTTPServerError and TS2345", "2345 error http server servererror"),
        ("0xDEADBEEF", "deadbeef"),
        ("The parser of SQL in src/app.py, at a24b142f9 of 2026", ""),
        ("数据库 getUser", "get user"),
        ("aB" * 40, ""),
        ("", ""),
    ],
)
def test_the_parts_of_names_are_told_once(text: str, parts: str) -> None:
    assert parts_of_names(text) == parts


@pytest.mark.parametrize(
    ("query", "forms"),
    [
        ("when did we buy it", {"buy": ("bought",)}),
        ("a24b142", {"a24b142": ("a24b142*",)}),
        ("a24b142f9", {"a24b142f9": ("a24b142f9*", "a24b142", "a24b142f")}),
        ("0xdeadbeef", {"0xdeadbeef": ("deadbeef",)}),
        ("getUserProfile", {"getuserprofile": ("get user profile",)}),
        ("the parser", {}),
    ],
)
def test_words_have_the_forms_in_which_they_may_stand(query: str, forms: dict[str, tuple[str, ...]]) -> None:
    assert forms_of(query, query_words(query)) == forms


@pytest.mark.parametrize(("word", "is_one"), [("a24b14", True), ("facade", False), ("123456", False), ("a1b2", False)])
def test_a_commit_id_has_letters_and_digits(word: str, *, is_one: bool) -> None:
    assert is_hash(word) == is_one


@given(st.text(st.characters() | st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF)))
def test_no_form_is_ever_read_as_syntax(query: str) -> None:
    words = query_words(query)
    if not words:
        return
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE step_text USING fts5 (text, content='', tokenize='porter unicode61')")
    match = fts_query(words, forms_of(query, words))
    connection.execute("SELECT rowid FROM step_text WHERE step_text MATCH ?", (match,)).fetchall()
    connection.close()
