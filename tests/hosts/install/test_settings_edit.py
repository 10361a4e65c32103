"""Editing settings: what is not ours keeps its value and its place, and the text its layout."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.hosts.install.settings_edit import append_entries, edit_settings, laid_out, parsed, remove_entries

PATH = ("hooks", "Stop")
OURS: list[Any] = [{"hooks": [{"type": "command", "command": "ours", "args": ["ü", 'a "b"']}]}, "ours"]
keys = st.sampled_from(["hooks", "Stop", "PreCompact", "permissions", "env", "ü", 'a"b', "\U0001f600"])
scalars = st.none() | st.booleans() | st.integers(-99, 99) | st.floats(-9, 9) | st.text(max_size=8)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=10
)
others = st.dictionaries(keys.filter(lambda key: key != "hooks"), values, max_size=3)
groups = st.dictionaries(st.sampled_from(["PreCompact", "Stop"]), st.lists(values, min_size=1, max_size=3), max_size=2)


def is_ours(entry: Any) -> bool:
    return entry in OURS


@given(others, groups)
def test_entries_stand_behind_those_that_were_there_and_go_without_a_trace(value: Any, hooks: Any) -> None:
    settings = {**value, "hooks": hooks} if hooks else value
    added = append_entries(settings, PATH, OURS)
    assert added == {**value, "hooks": {**hooks, "Stop": [*hooks.get("Stop", []), *OURS]}}
    assert list(added) == list(settings if hooks else {**settings, "hooks": 0})
    assert remove_entries(added, PATH, is_ours) == settings


@given(others, st.sampled_from([PATH, ("nowhere",), ("nowhere", "at", "all")]))
def test_where_nothing_is_unwanted_nothing_changes(settings: Any, path: tuple[str, ...]) -> None:
    assert remove_entries(settings, path, lambda _entry: False) == settings


@given(others, st.sampled_from([None, 1, 2, 4, "\t"]), st.sampled_from(["", "\n", "\r\n"]), st.booleans())
def test_a_text_keeps_its_layout(settings: Any, indent: int | str | None, end: str, marked: bool) -> None:
    before = json.dumps({"last": 1, **settings}, indent=indent, ensure_ascii=False)
    before = "\ufeff" * marked + before.replace("\n", "\r\n" if end == "\r\n" else "\n") + end
    added = laid_out(append_entries(parsed(before), PATH, OURS), before)
    assert parsed(added)["hooks"]["Stop"] == OURS
    assert laid_out(remove_entries(parsed(added), PATH, is_ours), added) == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}\n", '{\n  "a": {\n    "b": [\n      1\n    ]\n  }\n}\n'),
        ('{\n    "x": 1\n}', '{\n    "x": 1,\n    "a": {\n        "b": [\n            1\n        ]\n    }\n}'),
        ('{\r\n\t"x": 1\r\n}', '{\r\n\t"x": 1,\r\n\t"a": {\r\n\t\t"b": [\r\n\t\t\t1\r\n\t\t]\r\n\t}\r\n}'),
        ('{"x": 1}', '{"x": 1, "a": {"b": [1]}}'),
        ('{"x": "one\u2028       two\\ud83d"}', '{"x": "one\u2028       two\\ud83d", "a": {"b": [1]}}'),
    ],
    ids=["empty", "four spaces", "tabs and CRLF", "one line", "half a pair"],
)
def test_what_is_added_is_laid_out_like_the_rest(before: str, after: str) -> None:
    assert laid_out(append_entries(parsed(before), ("a", "b"), [1]), before) == after


def test_settings_that_say_the_same_are_not_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{ "b":[1],\n"a" : 1}', encoding="utf-8")
    assert not edit_settings(str(path), lambda _settings: {"a": 1, "b": [1]})
    assert path.read_text(encoding="utf-8") == '{ "b":[1],\n"a" : 1}'


def test_of_two_members_with_one_name_the_last_counts_as_json_has_it() -> None:
    assert remove_entries(parsed('{"a": [0], "a": [1, 2]}'), ("a",), lambda entry: entry == 2) == {"a": [1]}


def test_a_number_that_json_does_not_have_is_no_json() -> None:
    with pytest.raises(ValueError, match="NaN"):
        parsed('{"a": NaN}')


@pytest.mark.parametrize("before", ["", "\n", "\ufeff"])
def test_an_empty_file_has_no_settings_yet(before: str) -> None:
    assert parsed(before) == {}
    assert parsed(laid_out({"hooks": {}}, before)) == {"hooks": {}}
