from __future__ import annotations

from typing import Any

import pytest

from tests.builders import HOUR, NOW
from unified_state.model.known import Known, TurnOutline
from unified_state.restore.rules.story_lines import story

LONG = "rename the module of the parser and all that imports it"


def turn(number: int, prompt: str = LONG, **fields: Any) -> TurnOutline:
    return TurnOutline(**{"number": number, "at": NOW - HOUR, "prompt": prompt, "answer": "done", **fields})


def told(*turns: TurnOutline, summary: str | None = None) -> list[str]:
    """The refs of the turns that are told."""
    known = Known(reason="compact", now=NOW, turns=turns, summary=summary)
    return [text.split()[0] for text, _ in story(known)]


def test_turns_are_told_the_newest_first_each_worth_less_than_the_one_after_it() -> None:
    known = Known(reason="compact", now=NOW, turns=tuple(turn(number) for number in (9, 8, 7)))
    texts, worths = zip(*story(known), strict=True)
    assert [text.split()[0] for text in texts] == ["T9", "T8", "T7"]
    assert sorted(worths, reverse=True) == list(worths)
    assert len(set(worths)) == 3


def test_the_newest_turn_is_told_at_more_length() -> None:
    known = Known(reason="compact", now=NOW, turns=(turn(9, "x" * 2000), turn(8, "x" * 2000)))
    newest, before = (text for text, _ in story(known))
    assert len(newest) > 2 * len(before) - 100 > 300


@pytest.mark.parametrize("summary", [f"The user said: {LONG}.", f"> {LONG.replace(' of', chr(10) + '  of')}"])
def test_a_turn_that_the_summary_quotes_is_left_out(summary: str) -> None:
    assert told(turn(9), turn(8, "write tests for the reader too"), summary=summary) == ["T8"]


@pytest.mark.parametrize("prompt", ["go on", "yes", "y", "ok!", "不"])
def test_a_short_prompt_stands_in_a_summary_by_chance(prompt: str) -> None:
    summary = f"Yesterday they said ok! to go on; {LONG}不"
    assert told(turn(9, prompt), summary=summary) == ["T9"]


@pytest.mark.parametrize("quoted", ['"go on"', "“go on”", "'go on'", "`go on`"])
def test_a_short_prompt_in_quotes_is_quoted(quoted: str) -> None:
    assert told(turn(9, "go on"), summary=f"All user messages: {quoted}") == []


def test_a_prompt_of_which_nothing_came_is_left_out() -> None:
    assert told(turn(9, answer=""), turn(8, answer="", tool_calls=1)) == ["T8"]


def test_a_turn_without_a_prompt_is_told() -> None:
    assert told(turn(9, ""), turn(8, "", answer=""), summary="anything") == ["T9", "T8"]


def test_without_turns_there_is_no_story() -> None:
    assert told() == []
