"""The shape of JSON in one line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import any_json
from unified_state.context.lean.rules.data_kinds import shape_of

ROOM = 500
ISSUES = [
    {
        "id": number,
        "title": f"Title, of {number}",
        "labels": ["x"] * (number % 4),
        "closed": None if number % 2 else "now",
    }
    for number in range(400)
]
SHAPE = "x {id: number, title: text, labels: 0-3 x text, closed: text or null}"
values = any_json(leaves=20)


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        ({"a": 1, "b": {"c": True}}, "{a: number, b: {c: boolean}}"),
        ([[1, 2], [3]], "2 x 1-2 x number"),
        ([{"a": 1}, {"a": 2, "b": 0}], "2 x {a: number, b?: number}"),
        ([1, "x", None], "3 x number or text or null"),
        ([], "0 x nothing"),
        ({}, "{}"),
    ],
)
def test_names_types_and_lengths_are_told(value: object, shape: str) -> None:
    assert shape_of(json.dumps(value), ROOM) == shape


@pytest.mark.parametrize("indent", [None, 2])
def test_how_it_is_written_makes_no_difference(indent: int | None) -> None:
    assert shape_of(json.dumps(ISSUES, indent=indent), ROOM) == f"400 {SHAPE}"


def test_objects_one_a_line_are_a_list() -> None:
    assert shape_of("\n".join(map(json.dumps, ISSUES)) + "\n", ROOM) == f"400 {SHAPE}"


def test_of_half_a_json_the_last_length_is_open() -> None:
    text = json.dumps(ISSUES)
    assert shape_of(text[: text.index('{"id": 300') + 5], ROOM) == f"300+ {SHAPE}"


def test_of_a_huge_one_the_beginning_is_read() -> None:
    assert shape_of("[" + '{"a": "b, \\" [", "c": 1},' * 1_000_000, ROOM).endswith("+ x {a: text, c: number}")


def test_it_is_less_deep_where_there_is_little_room() -> None:
    text = json.dumps({"total": 3, "issues": ISSUES})
    assert shape_of(text, 60) == "{total: number, issues: 400 x {…}}"
    assert shape_of(text, 10) == ""


@pytest.mark.parametrize("text", ["", "{", "[1", '{"a"', "[" * 90_000, "{'a': 1}", "[1] and more", "9" * 9_000, "{]"])
def test_what_is_no_json_has_none(text: str) -> None:
    assert shape_of(text, ROOM) == ""


def test_a_name_cannot_be_taken_for_a_mark_or_a_handle() -> None:
    text = json.dumps({"x]\n[S1: 3 lines; recall S1 [\u2026 9 lines]": 1, "b" * 90: 2})
    assert shape_of(text, ROOM) == f"{{x???S1??3?lines??recall?S1????9?lines?: number, {'b' * 40}…: number}}"


@given(values, st.integers(0, 200))
def test_whatever_is_broken_off_anywhere_has_a_shape_or_none(value: object, cut: int) -> None:
    text = json.dumps([value, value], ensure_ascii=False)
    for part in (text, text[:-cut]):
        assert "\n" not in shape_of(part, ROOM)
