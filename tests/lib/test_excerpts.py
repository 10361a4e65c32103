from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.amount import examples
from unified_state.errors import UsageError
from unified_state.lib.excerpts import (
    PAGE_TOKENS,
    Page,
    fields_that_fit,
    lines_of,
    matches_in,
    page_of_entries,
    page_of_texts,
    parse_range,
    shortened,
)
from unified_state.lib.json_text import dump_json, parse_json
from unified_state.lib.tokens import upper_bound

HOSTILE = ["\x00" * 60_000, "\U0001f468\u200d\U0001f469\u200d\U0001f467" * 5_000, "\u6f22" * 40_000, "\n" * 30_000]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=1_000),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=12,
)


def size(value: object) -> int:
    return upper_bound(dump_json(value))


def entry_pages(entries: list[dict[str, Any]], tokens: int = PAGE_TOKENS) -> list[tuple[list[dict[str, Any]], Page]]:
    found, offset = [], 0
    while True:
        shown, page = page_of_entries(entries, offset, tokens)
        found.append((shown, page))
        if page.next_offset is None:
            return found
        offset = page.next_offset


def text_pages(value: dict[str, Any]) -> list[tuple[dict[str, Any], Page]]:
    found, offset = [], 0
    while True:
        shown, page = page_of_texts(value, offset)
        found.append((shown, page))
        if page.next_offset is None:
            return found
        assert page.next_offset > offset
        offset = page.next_offset


def test_the_pages_of_a_list_hold_every_entry_once() -> None:
    entries = [{"ref": f"S{number}", "text": "word " * (number % 90)} for number in range(1_000)]
    pages = entry_pages(entries)
    assert len(pages) > 3
    assert [entry for shown, _ in pages for entry in shown] == entries
    assert all(size(shown) <= PAGE_TOKENS + 2 for shown, _ in pages)  # for the brackets


def test_an_entry_that_is_too_long_is_cut_and_says_how_long_it_is() -> None:
    cut = shortened({"ref": "S1", "result": "x" * 100_000, "tool": "Bash"})
    assert (cut["ref"], cut["tool"], cut["cut"]) == ("S1", "Bash", {"result": 100_000})
    assert cut["result"].endswith("x…")
    assert len(cut["result"]) < 10_000


def test_an_input_of_many_parts_is_cut_as_one_text() -> None:
    cut = shortened({"ref": "S1", "input": {f"key{number}": number for number in range(9_999)}})
    assert cut["input"].startswith('{"key0":0,"key1":1,')
    assert cut["cut"]["input"] > 100_000


@pytest.mark.parametrize("text", ["word " * 15_000, *HOSTILE], ids=["words", "nul", "family", "han", "newlines"])
def test_the_pages_of_a_long_text_hold_every_character_once(text: str) -> None:
    value = {"ref": "S1", "kind": "tool_result", "result": text, "nested": [{"quote": text[:1_000]}]}
    pages = text_pages(value)
    assert "".join(shown["result"] for shown, _ in pages) == text
    assert parse_json("".join(shown["nested"] for shown, _ in pages)) == value["nested"]
    assert all(shown["ref"] == "S1" for shown, _ in pages)
    assert all(size(shown) <= PAGE_TOKENS + 1_000 for shown, _ in pages)
    assert {page.total for _, page in pages} == {len(text) + len(dump_json(value["nested"]))}


def test_a_page_does_not_end_inside_of_what_people_see_as_one_character() -> None:
    pages = text_pages({"text": HOSTILE[1]})
    assert not any(shown["text"].startswith("\u200d") for shown, _ in pages)


@examples(60)
@given(st.dictionaries(st.sampled_from(["ref", "body", "quote", "links"]), JSON, min_size=1))
def test_a_short_value_is_shown_as_it_is(value: dict[str, Any]) -> None:
    shown, page = page_of_texts(value, 0)
    assert shown == value
    assert page.next_offset is None


@pytest.mark.parametrize("offset", [1, 7, 10**30])
def test_behind_the_end_there_is_no_page(offset: int) -> None:
    with pytest.raises(UsageError, match="offset is"):
        page_of_entries([], offset)
    with pytest.raises(UsageError, match="offset is"):
        page_of_texts({"ref": "D1"}, offset)


def test_fields_that_are_too_long_are_named() -> None:
    kept, left_out = fields_that_fit({"a": 1, "b": "x" * 9_000, "c": [2]}, 100)
    assert (kept, left_out) == ({"a": 1, "c": [2]}, ["b"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2:3", (2, 3)), ("2", (2, 2)), (":3", (1, 3)), ("3:", (3, 9)), ("1:99", (1, 9)), ("0:2", (1, 2)),
        (" 1 : 2 ", (1, 2)), ("1,000:", None), ("", None), (":", None), ("a", None), ("-1:3", None), ("3:2", None),
        ("٣", None), ("1:2:3", None), ("9" * 5_000, None),
    ],
)  # fmt: skip
def test_a_range_of_nine_lines(text: str, expected: tuple[int, int] | None) -> None:
    if expected is None:
        with pytest.raises(UsageError):
            parse_range(text, 9)
    else:
        assert parse_range(text, 9) == expected


def test_only_a_line_feed_ends_a_line() -> None:
    assert lines_of("a\r\nb\u2028c\x0bd\n") == ["a\r", "b\u2028c\x0bd"]


def test_lines_with_a_match_are_found() -> None:
    assert matches_in(["a", "xbx", "", "日b", "\udcffb"], "b") == (3, ["2:xbx", "4:日b", "5:\udcffb"])
    count, shown = matches_in(["b"] * 300, "b", first=7)
    assert (count, len(shown), shown[0]) == (300, 200, "7:b")


@pytest.mark.parametrize("pattern", ["(", "[", "*", "(?P<a", "x" * 1_001, "(?" * 400, "a{99999999999999999999}"])
def test_what_is_no_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(UsageError):
        matches_in(["a"], pattern)


def test_a_pattern_that_takes_too_long_is_ended() -> None:
    with pytest.raises(UsageError, match="was not done"):
        matches_in(["a" * 60 + "!"], "(a+)+$", seconds=0.5)
