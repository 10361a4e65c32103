"""The roots of words, by which a search without an index finds other forms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.lib.words.word_roots import root_of


@pytest.mark.parametrize(
    "forms",
    [
        ("plan", "plans", "planned", "planning"),
        ("cache", "caches", "cached", "caching"),
        ("library", "libraries"),
        ("decide", "decides", "decided", "deciding"),
        ("test", "tests", "tested", "testing"),
    ],
)
def test_the_forms_of_a_word_have_one_root(forms: tuple[str, ...]) -> None:
    assert len({root_of(form) for form in forms}) == 1


@pytest.mark.parametrize("word", ["class", "is", "go", "3des", "数据库", "naïve", "id"])
def test_what_has_no_ending_is_its_own_root(word: str) -> None:
    assert root_of(word) == word


@given(st.text())
def test_a_word_begins_with_its_root(word: str) -> None:
    assert word.startswith(root_of(word))
    assert root_of(word) or not word
