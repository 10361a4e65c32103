from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.lib.text.quotes import find_quote, text_hash


@pytest.mark.parametrize(
    ("text", "said", "quote"),
    [
        ('unified-state decision add "Use SQLite"', "Use SQLite", "Use SQLite"),
        ("add 'it'\\''s the user'\\''s'", "it's the user's", "it'\\''s the user'\\''s"),
        ("add Use\\ SQLite", "Use SQLite", "Use\\ SQLite"),
        ("Use\n  SQLite\n  here", "Use SQLite here", "Use\n  SQLite\n  here"),
        ("say “Use SQLite”", "say 'Use SQLite'", "say “Use SQLite"),
        ("Use PostgreSQL", "Use SQLite", None),
        ("use sqlite", "Use SQLite", None),
        ("anything", "  ", None),
        ("anything", "'\"", None),
    ],
)
def test_the_same_words_are_found_however_a_shell_wants_them_quoted(text: str, said: str, quote: str | None) -> None:
    assert find_quote(text, said) == quote


@given(st.text(), st.text(), st.text())
def test_what_is_found_is_a_slice_of_the_text(before: str, said: str, after: str) -> None:
    text = before + said + after
    quote = find_quote(text, said)
    assert quote is None or quote in text
    assert quote is not None or not said.strip()


@given(st.text())
def test_the_hash_is_the_sha_256_of_the_utf_8(text: str) -> None:
    assert text_hash(text) == hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def test_half_an_emoji_has_a_hash_too() -> None:
    assert len(text_hash("half \ud83d")) == 64
