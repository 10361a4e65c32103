from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.lib.text.truncate import CUT_MARK, cut, one_line, utf16_units

CLUSTERS = (
    "a",
    " ",
    "é",
    "e\u0301",
    "語",
    "\U0001f600",
    "\U0001f44d\U0001f3fd",  # a skin tone
    "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",  # a family
    "\U0001f3f3\ufe0f\u200d\U0001f308",  # the rainbow flag
    "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",  # the flag of Scotland
    "1\ufe0f\u20e3",  # a keycap
    "\u2764\ufe0f",
    "\U0001f1e9\U0001f1ea",  # the flag of Germany
)
clusters = st.lists(st.sampled_from(CLUSTERS), max_size=60)


@given(clusters, st.integers(1, 80))
def test_a_cut_text_ends_where_a_character_as_people_see_it_ends(parts: list[str], limit: int) -> None:
    text = "".join(parts)
    shown = cut(text, limit)
    if shown == text:
        return
    kept = shown.removesuffix(CUT_MARK)
    ends = ["".join(parts[:count]) for count in range(len(parts) + 1)]
    assert kept in ends


@given(st.text(), st.integers(1, 80))
def test_a_cut_text_respects_the_limit_and_is_a_beginning(text: str, limit: int) -> None:
    shown = cut(text, limit)
    assert len(shown) <= limit
    assert text.startswith(shown.removesuffix(CUT_MARK) if len(text) > limit else shown)


@given(st.text())
def test_a_text_that_fits_is_left_alone(text: str) -> None:
    assert cut(text, len(text)) is text


def test_a_text_is_cut_at_the_limit_where_that_is_between_characters() -> None:
    assert cut("abcdefgh", 5) == "abcd…"


def test_a_cluster_larger_than_the_limit_leaves_the_mark_alone() -> None:
    assert cut("\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466", 4) == CUT_MARK


@given(st.text(st.characters() | st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF)))
def test_units_are_counted_as_utf_16_has_them(text: str) -> None:
    assert utf16_units(text) == len(text.encode("utf-16-le", "surrogatepass")) // 2


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("  a\t b\r\n c  ", "a b c"),
        ("a\u2028b\u2029c\x85d\x0be", "a b c d e"),
        ("bell\x07, escape\x1b[31m, delete\x7f, c1\x9b", "bell, escape[31m, delete, c1"),
        ("a \x00 b", "a b"),
        ("\x1b\n a", "a"),
        ("", ""),
    ],
)
def test_one_line_has_neither_line_ends_nor_control_characters(text: str, line: str) -> None:
    assert one_line(text) == line


@given(st.text())
def test_one_line_is_one_line_for_whoever_splits_it(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1
