"""JSON: what others wrote is read, and what we write any reader takes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.lib.json_text import dump_ascii_json, dump_json, parse_json, parse_object

characters = st.characters() | st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF)
# A pair of surrogates is one character: JSON's escapes do not tell them apart.
texts = st.text(characters).map(lambda text: text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass"))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
    max_leaves=20,
)


@given(json_values)
def test_what_is_written_is_read_again(value: object) -> None:
    assert parse_json(dump_json(value)) == value
    assert parse_json(dump_ascii_json(value)) == value


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_numbers_that_json_does_not_have_are_written_as_null(number: str) -> None:
    value = parse_json(f'{{"a":[1.5,{number}]}}')
    assert [dump_json(value), dump_ascii_json(value)] == ['{"a":[1.5,null]}'] * 2
    assert [dump_json(float(number)), dump_ascii_json([float(number)])] == ["null", "[null]"]


@pytest.mark.parametrize("text", ["", " ", "{", "[1,", "nul", '{"a":1} x', "{'a':1}", '{"a" 1}', '"\\x"'])
def test_what_is_no_json_is_a_value_error_and_no_object(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse_json(text)
    assert parse_object(text) is None


def test_nesting_without_end_is_an_error_that_can_be_caught() -> None:
    with pytest.raises(RecursionError):
        parse_json("[" * 100_000)
    assert parse_object("[" * 100_000) is None


def test_raw_control_characters_are_read() -> None:
    assert parse_json('"a\nb\x00"') == "a\nb\x00"


def test_json_is_compact_and_keeps_the_order() -> None:
    assert dump_json({"b": [1, 2], "a": "é"}) == '{"b":[1,2],"a":"é"}'
    assert dump_ascii_json({"b": [1, 2], "a": "é"}) == '{"b":[1,2],"a":"\\u00e9"}'


def test_an_object_of_bytes_that_are_no_utf_8_is_read() -> None:
    assert parse_object(json.dumps({"a": "x"}).encode() + b" ") == {"a": "x"}
    assert parse_object(b'{"a": "\xff"}') == {"a": "\ufffd"}
