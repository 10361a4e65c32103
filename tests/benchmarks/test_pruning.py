"""The benchmark of pruning counts what a cache would."""

from __future__ import annotations

from typing import Any

from benchmarks.pruning import Sent, play
from unified_state.context.prune_messages import message_tokens


def message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "text": text}]}


def test_what_the_last_request_held_is_read_and_the_rest_written() -> None:
    messages = [message("user", "one"), message("assistant", "two"), message("user", "three")]
    one, two, three = map(message_tokens, messages)
    assert play(messages, None) == Sent(2, one, one + two + three, 0, one + two + three)


def test_a_cut_breaks_the_cache_from_there_on() -> None:
    messages = [message("user", "x" * 90_000), *[message(role, "y") for role in ("assistant", "user") * 5]]
    assert play(messages, {}).changes == 1
    assert play(messages, {"step_tokens": 90_000}).changes == 0
