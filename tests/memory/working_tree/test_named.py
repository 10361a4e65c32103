from __future__ import annotations

import pytest

from unified_state.memory.working_tree.rules.named import commands_in, is_about_change, is_same_version, versions_in


@pytest.mark.parametrize(
    ("text", "versions"),
    [
        ("Pin redis 5.0.1 for the cache", {"redis": "5.0.1"}),
        ("pins requests==2.31.0, and react@18.2.0.", {"requests": "2.31.0", "react": "18.2.0"}),
        ("We run on `Python 3.11`.", {"python": "3.11"}),
        ("Django v4.2 it is", {"django": "4.2"}),
        ("from redis 4.6 to redis 5.0", {}),  # which of them holds?
        ("it took 5.0 s, see 1.2.3.4.5, e.g. 3.1", {"took": "5.0"}),
        ("the port is 8080", {}),
        ("缓存用 redis 5.0.1 。", {"redis": "5.0.1"}),
        ("redis 5.0 and newer", {}),
        ("redis 5.0+ is fine", {}),
        ("at least redis 5.0", {}),
        ("All code must run on Python 3.9", {}),
        ("redis 5.0, the oldest server that we support", {}),
        ("It is compatible with redis 5.0.", {}),
        ("redis>=5.0 and redis 5.0", {}),
        ("redis 5.0 and up", {}),
        ("It works with redis 5.0", {}),
        ("Since redis 5.0 it scans", {}),
        ("`", {}),
        ("", {}),
    ],
)
def test_a_version_belongs_to_the_name_before_it(text: str, versions: dict[str, str]) -> None:
    assert versions_in(text) == versions


def test_only_code_spans_are_commands() -> None:
    assert commands_in("make sure that `make lint` and `npm run build` pass, see `limiter`") == [
        "make lint",
        "npm run build",
    ]
    assert commands_in("`open") == []
    assert len(commands_in("`a b` " * 1000)) == 8


@pytest.mark.parametrize(
    "text",
    [
        "Remove `oldName`",
        "never call fetch_all",
        "we don\u2019t use it",
        "Add a `make lint` target",
        "renamed.",
        "删除它",
    ],
)
def test_a_text_about_a_change_may_name_what_is_gone(text: str) -> None:
    assert is_about_change(text)


@pytest.mark.parametrize("text", ["with_retry caps the backoff at 8 s", "Run `make lint` before each commit", ""])
def test_other_texts_are_about_no_change(text: str) -> None:
    assert not is_about_change(text)


@pytest.mark.parametrize(
    ("one", "other", "same"), [("5.0", "5.0.1", True), ("5.0.1", "5.0.1", True), ("5.0.1", "5.1", False)]
)
def test_versions_are_compared_as_far_as_both_are_given(one: str, other: str, same: bool) -> None:
    assert is_same_version(one, other) is is_same_version(other, one) is same
