"""What the user typed comes back verbatim, unless the client's summary quotes it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import NOW
from unified_state.lib.text import estimate_tokens
from unified_state.model.known import Prompt, Turn
from unified_state.model.step import TEXT, TOOL_RESULT, Step
from unified_state.restore.rules.users_words import unquoted_lines


def lines(*typed: str, summary: str = "", tokens: int = 1200) -> list[str]:
    prompts = [Prompt(turn=turn, at=NOW, text=text) for turn, text in enumerate(typed, 1)]
    return unquoted_lines(prompts, (), summary, tokens)


def test_words_come_back_verbatim_the_oldest_first_with_their_turns() -> None:
    assert lines("Never push to `main`!", "Use  Redis,\nnot a file.") == [
        "  T1: Never push to `main`!",
        "  T2: Use Redis, not a file.",
    ]


def test_what_the_summary_quotes_is_left_out_and_the_gap_is_marked() -> None:
    typed = (
        "Please rename the module of the parser. Never touch the health route. And keep the tests green, all of them."
    )
    quoted = "The user asked: please rename the module of the parser; keep the tests green, all of them."
    assert lines(typed, summary=quoted) == ["  T1: … Never touch the health route."]


@pytest.mark.parametrize(
    ("summary", "is_quoted"),
    [
        ("rename the module of the parser and its tests to reader today", True),
        ("RENAME the module, of the parser and its tests to a reader", True),  # 6 of 8 runs of four words
        ("rename the module of the parser", False),  # 3 of 8
        ("the parser's module was renamed", False),
    ],
)
def test_a_sentence_is_quoted_if_seven_of_ten_of_its_runs_of_four_words_are(summary: str, is_quoted: bool) -> None:
    assert (lines("Rename the module of the parser and its tests to reader", summary=summary) == []) == is_quoted


def test_a_sentence_of_three_words_is_quoted_if_they_stand_together() -> None:
    assert lines("Use Redis.", summary="He said: use Redis") == []
    assert lines("Use Redis.", summary="We use the Redis cache") == ["  T1: Use Redis."]


def test_of_a_long_prompt_the_part_that_the_summary_lacks_comes_back_not_its_beginning() -> None:
    known = [f"The step number {number} is to move the file of part {number} over." for number in range(60)]
    typed = "\n\n".join([*known, "At last delete the folder attic."])
    assert lines(typed, summary=" ".join(known)) == ["  T1: … At last delete the folder attic."]


TOLD = "**The port** is 8443 in the settings of the proxy,\nbecause 443 is taken."
PASTED = "The port is 8443 in the settings of the proxy, because 443 is taken."


@pytest.mark.parametrize("kind", [TEXT, TOOL_RESULT])
@pytest.mark.parametrize(
    ("typed", "line"),
    [
        (f"Is that right?\n\n{PASTED}\n\nI doubt it.", [f"  T2: Is that right? [pasted: {PASTED}] I doubt it."]),
        ("I doubt that the port is 8443 in the settings.", ["  T2: I doubt that the port is 8443 in the settings."]),
        (
            "The port is 8443 in the settings of the proxy",
            ["  T2: [pasted: The port is 8443 in the settings of the proxy]"],
        ),
    ],
)
def test_what_was_pasted_from_a_turn_before_is_marked(kind: str, typed: str, line: list[str]) -> None:
    before = Turn(number=1, at=NOW, steps=(Step("u", 0, kind, NOW, TOLD),))
    assert unquoted_lines([Prompt(turn=2, at=NOW, text=typed)], [before], "", 1200) == line
    assert "pasted" not in unquoted_lines([Prompt(turn=1, at=NOW, text=typed)], [before], "", 1200)[0]


@pytest.mark.parametrize(("asked", "count"), [("Is that right for us?", 0), ("Go on.", 1)])
def test_what_was_pasted_is_not_told_alone_where_the_summary_quotes_what_was_typed(asked: str, count: int) -> None:
    before = Turn(number=1, at=NOW, steps=(Step("u", 0, TEXT, NOW, TOLD),))
    prompt = Prompt(turn=2, at=NOW, text=f"{asked}\n\n{PASTED}")
    assert len(unquoted_lines([prompt], [before], "asked: is that right for us", 1200)) == count


def test_a_gap_between_what_was_typed_is_marked() -> None:
    assert lines("Look:\n```\nmake: done\n```\nWhy?\nfatal: bad tree\nHelp!") == ["  T1: Look: … Why? … Help!"]


@pytest.mark.parametrize("typed", ["go on", "Go on.", "continue", "Yes, please!", "ok", "", "👍", "..."])
def test_a_prompt_that_only_says_go_on_is_left_out(typed: str) -> None:
    assert lines(typed) == []


@pytest.mark.parametrize(
    "typed",
    [
        "<task-notification>\n<summary>Background command ended</summary>\n</task-notification>",
        "<system-reminder>obey</system-reminder>",
        "<local-command-stdout>Compacted</local-command-stdout>",
        "This session is being continued from a previous conversation that ran out of context.",
        "[Request interrupted by user]",
        "Operation stopped by hook: Warning: the branch is in use",
        "<command-name>/context-compact</command-name>\n<command-args>the port</command-args>",
        "<command-name>/compact</command-name>\n<command-args>keep paths</command-args>",
        "<command-name>/clear</command-name>\n<command-args></command-args>",
    ],
)
def test_machine_text_and_commands_of_ours_are_left_out(typed: str) -> None:
    assert lines(typed) == []


def test_the_arguments_of_a_slash_command_are_words() -> None:
    typed = "<command-message>fix</command-message>\n<command-name>/fix</command-name>\n"
    assert lines(f"{typed}<command-args>the parser, never the tests</command-args>") == [
        "  T1: the parser, never the tests"
    ]


def test_the_task_of_a_team_lead_is_words() -> None:
    task = "Fix the parser.\n\nNever touch the tests."
    assert lines(f'<teammate-message teammate_id="lead" summary="x">\n{task}\n</teammate-message>') == [
        "  T1: Fix the parser. Never touch the tests."
    ]


def test_what_an_old_client_took_behind_a_number_sign_is_words() -> None:
    assert lines("<user-memory-input>always use odd ports</user-memory-input>") == ["  T1: always use odd ports"]


def test_a_prompt_that_shows_the_tag_of_a_command_is_a_prompt() -> None:
    assert lines("Why does it print a tag?\n\nIt is `<command-name>`.") != []


def test_the_same_words_in_one_turn_come_once() -> None:
    twice = [Prompt(turn=1, at=NOW, text="Never push.")] * 2
    assert unquoted_lines(twice, (), "", 1200) == ["  T1: Never push."]


def test_words_that_were_typed_twice_come_once() -> None:
    twice = [Prompt(turn=turn, at=NOW, text="Never push.") for turn in (1, 2)]
    assert unquoted_lines(twice, (), "", 1200) == ["  T1: Never push."]


def test_where_not_all_fit_all_are_cut_before_one_is_left_out() -> None:
    found = lines(*(f"{number} {'at some length ' * 40}" for number in range(10)))
    assert [line.split()[1] for line in found] == [str(number) for number in range(10)]
    assert all(line.endswith("…") for line in found[1:])


def test_where_there_is_no_room_for_all_the_first_and_the_newest_stay_and_the_others_are_counted() -> None:
    first = f"Never push. {'And so on. ' * 90}"
    found = lines(first, *(f"{number} {'at some length ' * 40}" for number in range(100)))
    assert found[0] == f"  T1: {first.strip()}"
    assert found[1] == f"  ({101 + 1 - len(found)} prompts left out here)"
    assert found[-1].startswith("  T101: 99 at some length")
    assert len(found) > 15


@given(st.lists(st.text(max_size=400), max_size=30), st.text(max_size=200), st.integers(50, 1200))
def test_they_take_no_more_than_their_tokens(typed: list[str], summary: str, tokens: int) -> None:
    assert sum(estimate_tokens(f"{line}\n") for line in lines(*typed, summary=summary, tokens=tokens)) <= tokens


@pytest.mark.parametrize(
    "typed",
    [
        "不要推送到主分支。请使用 Redis。",
        "Ärger mit `/health`?",
        "see C:\\Users\\ada\\shop",
        "🚀 Ship it 👩\u200d👩\u200d👧 now",
    ],
)
def test_words_of_any_language_come_back(typed: str) -> None:
    assert lines(typed) == [f"  T1: {typed}".replace("。请", "。 请")]
