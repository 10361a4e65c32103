"""Editing JSON texts, judged on random documents that are laid out in random ways."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from unified_state.agents.install.settings_edit import append_entries, remove_entries

PATH = ("hooks", "Stop")
OURS: list[Any] = [{"hooks": [{"type": "command", "command": "ours", "args": ["ü", 'a "b"']}]}, "ours"]

keys = st.sampled_from(["hooks", "Stop", "PreCompact", "permissions", "env", "ü", 'a"b', "\U0001f600"])
scalars = st.none() | st.booleans() | st.integers(-99, 99) | st.floats(-9, 9) | st.text(max_size=8)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=10,
)
blanks = st.sampled_from(["", "", "", " ", "\n", "\r\n", "\t", "\n\n    ", " \n\t"])


@st.composite
def laid_out(draw: st.DrawFn, value: Any) -> str:
    """The JSON text of a value with random white space between its tokens and random escapes in its strings."""

    def blank() -> str:
        return draw(blanks)

    def text_of(part: Any) -> str:
        match part:
            case {}:
                members = [f"{text_of(key)}{blank()}:{blank()}{text_of(entry)}" for key, entry in part.items()]
                return "{" + blank() + f"{blank()},{blank()}".join(members) + blank() + "}"
            case []:
                return "[" + blank() + "]"
            case list():
                return "[" + blank() + f"{blank()},{blank()}".join(map(text_of, part)) + blank() + "]"
            case _:
                return json.dumps(part, ensure_ascii=draw(st.booleans()))

    return draw(st.sampled_from(["", "\ufeff"])) + blank() + text_of(value) + blank()


@st.composite
def settings(draw: st.DrawFn) -> tuple[dict[str, Any], str]:
    """Settings that have `hooks.Stop`, or only `hooks`, or neither; each holds something where it is there."""
    value: dict[str, Any] = draw(st.dictionaries(keys.filter(lambda key: key != "hooks"), values, max_size=3))
    shape = draw(st.sampled_from(["with Stop", "with hooks", "without"]))
    if shape != "without":
        others = draw(st.dictionaries(st.sampled_from(["PreCompact", "ü"]), values, min_size=1, max_size=2))
        groups = {"Stop": draw(st.lists(values, min_size=1, max_size=3))} if shape == "with Stop" else {}
        value["hooks"] = dict(draw(st.permutations(list({**others, **groups}.items()))))
        value = dict(draw(st.permutations(list(value.items()))))
    return value, draw(laid_out(value))


def parsed(text: str) -> Any:
    return json.loads(text.removeprefix("\ufeff"))


def is_ours(entry: Any) -> bool:
    return entry in OURS


@given(settings())
def test_entries_stand_behind_those_that_were_there_and_nothing_else_changes(
    given_: tuple[dict[str, Any], str],
) -> None:
    value, text = given_
    hooks = value.get("hooks", {})
    expected = {**value, "hooks": {**hooks, "Stop": [*hooks.get("Stop", []), *OURS]}}
    assert parsed(append_entries(text, PATH, OURS)) == expected


@given(settings())
def test_what_is_appended_and_removed_again_leaves_the_same_bytes(given_: tuple[dict[str, Any], str]) -> None:
    value, text = given_
    assume(value)  # in an empty object the white space goes
    assume(not any(map(is_ours, value.get("hooks", {}).get("Stop", []))))
    assert remove_entries(append_entries(text, PATH, OURS), PATH, is_ours) == text


@given(laid_out({}))
def test_an_empty_object_is_empty_again(text: str) -> None:
    assert parsed(remove_entries(append_entries(text, PATH, OURS), PATH, is_ours)) == {}


@given(settings(), st.data())
def test_removing_takes_the_unwanted_and_what_becomes_empty(
    given_: tuple[dict[str, Any], str], data: st.DataObject
) -> None:
    value, _ = given_
    kept = value.get("hooks", {}).get("Stop", [])
    assume(not any(map(is_ours, kept)))
    mixed = data.draw(st.permutations([*kept, *OURS]))
    text = data.draw(laid_out({**value, "hooks": {**value.get("hooks", {}), "Stop": mixed}}))
    expected = {**value, "hooks": {**value.get("hooks", {}), "Stop": [entry for entry in mixed if not is_ours(entry)]}}
    if not expected["hooks"]["Stop"]:
        del expected["hooks"]["Stop"]
    if not expected["hooks"]:
        del expected["hooks"]
    assert parsed(remove_entries(text, PATH, is_ours)) == expected


@given(settings(), st.sampled_from([PATH, ("nowhere",), ("nowhere", "at", "all"), ()]))
def test_where_nothing_is_unwanted_nothing_changes(given_: tuple[dict[str, Any], str], path: tuple[str, ...]) -> None:
    _, text = given_
    assert remove_entries(text, path, lambda _entry: False) == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}\n", '{\n  "a": {\n    "b": [\n      1\n    ]\n  }\n}\n'),
        ('{\n    "x": 1\n}', '{\n    "x": 1,\n    "a": {\n        "b": [\n            1\n        ]\n    }\n}'),
        ('{\r\n\t"x": 1\r\n}', '{\r\n\t"x": 1,\r\n\t"a": {\r\n\t\t"b": [\r\n\t\t\t1\r\n\t\t]\r\n\t}\r\n}'),
        ('{"a": {"b": []}}', '{"a": {"b": [\n      1\n    ]}}'),
        (
            '{\n  "a": {\n    "b": [\n      0\n    ]\n  }\n}',
            '{\n  "a": {\n    "b": [\n      0,\n      1\n    ]\n  }\n}',
        ),
    ],
    ids=["empty", "four spaces", "tabs and CRLF", "an empty list", "behind another"],
)
def test_what_is_added_is_laid_out_like_the_rest(before: str, after: str) -> None:
    assert append_entries(before, ("a", "b"), [1]) == after
