from __future__ import annotations

from typing import Any

import pytest

from tests.builders import NOW, answer, prompt, result, uuid_of
from unified_state.hosts.transcripts.transcript_lines import continuation_of, parent_of, session_of, usage_of
from unified_state.model.step import Continuation, Usage


@pytest.mark.parametrize("value", [{}, {"sessionId": ""}, {"sessionId": 5}, {"sessionId": None}])
def test_an_entry_may_not_say_whose_it_is(value: dict[str, Any]) -> None:
    assert session_of(value) is None


@pytest.mark.parametrize("parent", ["fork", "", None, 5])
def test_an_entry_of_the_session_itself_has_no_parent(parent: object) -> None:
    assert parent_of({"sessionId": "fork", "requestSessionId": parent}) is None


def with_usage(usage: object) -> dict[str, Any]:
    value = answer(1, "x")
    value["message"]["usage"] = usage
    return value


def test_the_size_of_the_conversation_is_all_that_was_sent_cached_or_not() -> None:
    usage = {"input_tokens": 3, "cache_creation_input_tokens": 40, "cache_read_input_tokens": 500, "output_tokens": 6}
    assert usage_of(with_usage(usage)) == Usage("msg_1", 543)


@pytest.mark.parametrize("value", [prompt(1, "x"), {"message": "x"}, {}, with_usage(None)])
def test_an_entry_without_usage_says_nothing_of_it(value: dict[str, Any]) -> None:
    assert usage_of(value) is None


def test_a_subagents_conversation_is_another_one() -> None:
    assert usage_of({**with_usage({"input_tokens": 3}), "isSidechain": True}) is None


def test_a_prompt_says_behind_which_entry_it_goes_on() -> None:
    at = NOW + 1000
    assert continuation_of(prompt(1, "x")) == Continuation(uuid=uuid_of(1), at=at, parent=uuid_of(0))
    assert continuation_of(prompt(1, "x", parentUuid=None)) == Continuation(uuid=uuid_of(1), at=at, parent=None)


@pytest.mark.parametrize(
    "entry",
    [
        answer(1, "x"),
        result(1, "a", "x"),
        prompt(1, "x", isMeta=True),
        prompt(1, "x", isSidechain=True),
        prompt(1, "x", isCompactSummary=True),
        prompt(1, "x", timestamp=None),
        prompt(1, "x", uuid=5),
        prompt(1, "x", message=None),
        prompt(1, "x", message={"content": [{"type": ["text"]}, 5, None]}),
        {},
    ],
)
def test_what_is_no_prompt_goes_on_from_nothing(entry: dict[str, Any]) -> None:
    assert continuation_of(entry) is None
