"""What comes back after a compaction: items, the user's words, the work, each told once and within the room."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from tests.builders import HOUR, NOW, item
from unified_state.lib.text import utf16_units
from unified_state.model.item import ATTEMPT, CONSTRAINT, EVIDENCE
from unified_state.model.known import Prompt, RecentWork, RestoreInput, Run, Statement, Turn, WorkingFile
from unified_state.model.session_state import GitState
from unified_state.model.step import PROMPT, TEXT, Step
from unified_state.restore.rules.compose import MOST_UNITS, compose


def compacted(**fields: Any) -> RestoreInput:
    return RestoreInput(**{"reason": "compact", "now": NOW, "compaction": 1, **fields})


def all_of(state: RestoreInput, tokens: int = 4500) -> str:
    texts = compose(state, tokens)
    return f"{texts.brief}\n{texts.working_set}"


def typed(*texts: str) -> tuple[Prompt, ...]:
    return tuple(Prompt(turn=number, at=NOW, text=text) for number, text in enumerate(texts, 1))


def said(text: str, turn: int = 1, age: int = 0) -> Statement:
    return Statement(turn=turn, at=NOW - HOUR, text=text, age=age)


def answered(number: int, text: str, *, uses: int = 0, at: int = NOW) -> Turn:
    step = Step(uuid=str(number), block=0, kind=TEXT, at=at, text=text)
    return Turn(number=number, at=at, steps=(step,), uses=uses)


SECTIONS = ("[DECISIONS]", "[USER]", "[NOW]", "[RAN]", "[SAID]", "[FILES]", "[LAST STEPS]", "[TURNS]")


def test_the_sections_have_an_order() -> None:
    state = compacted(
        items=(item(1),),
        prompts=typed("Make the parser faster."),
        recent=RecentWork(
            texts=(said("The cause is `parse_line` of src/lines.py, which reads each line 2 times."),),
            runs=(Run(command="make test", age=3, last="8 passed", parts=frozenset({"make test"}), checks=True),),
            edits=(("a.py", 1),),
        ),
        working_set=(WorkingFile("src/a.py", ("parse_all",), is_used=True),),
        turns=tuple(answered(number, f"{number} is done. {'At last. ' * 200}") for number in range(20)),
    )
    told = all_of(state).splitlines()
    titles = [title for line in told for title in SECTIONS if line.startswith(title)]
    assert titles == list(SECTIONS)


def test_items_are_told_whole_while_they_fit() -> None:
    long = "some reason of it " * 30
    items = tuple(item(number, decision=f"{number} {long}") for number in range(1, 9))
    assert compose(compacted(items=items), 4500).brief.count(long.strip()) == 8


def test_where_they_do_not_fit_the_important_ones_are_cut_and_the_others_are_refs_with_their_number() -> None:
    rule = item(1, CONSTRAINT, constraint="Never push", blocking=True, origin="user_said")
    items = (rule, *(item(number, decision=f"{number} {'at some length ' * 30}") for number in range(2, 200)))
    brief = all_of(compacted(items=items, paged_out=("D777",)))
    assert "  C1 (the user said, blocking): Never push" in brief
    shown = brief.count("\n  D")
    assert 20 < shown < 198
    assert f"[ALSO RECORDED] {199 - shown} items, `unified-state show REF` prints one: D" in brief
    assert {entry.alias for entry in items} | {"D777"} <= set(brief.split())


@pytest.mark.parametrize("tokens", [600, 1500, 4500])
def test_of_forty_recorded_decisions_each_is_told_or_named(tokens: int) -> None:
    items = tuple(item(number, decision=f"Decided number {number}: {'as it is ' * 20}") for number in range(1, 41))
    texts = compose(compacted(items=items), tokens)
    assert {entry.alias for entry in items} <= set(f"{texts.brief}\n{texts.working_set}".split())


def test_items_leave_a_third_of_the_room_to_the_work() -> None:
    items = tuple(item(number, ATTEMPT, attempt="x " * 100) for number in range(1, 200))
    texts = tuple(
        said(f"`name_{number}` in src/f{number}.py, line {number}, is the cause of it.", number)
        for number in range(200)
    )
    assert all_of(compacted(items=items, recent=RecentWork(texts=texts))).count("is the cause of it") > 20


def test_what_one_section_leaves_goes_to_the_others() -> None:
    texts = tuple(
        said(f"`name_{number}` in src/f{number}.py, line {number}, is the cause of it.", number)
        for number in range(500)
    )
    alone = compacted(recent=RecentWork(texts=texts))
    beside = alone.replace(prompts=typed(*(f"Look at part {number}, {'please ' * 20}" for number in range(40))))
    assert all_of(alone).count("is the cause") > all_of(beside).count("is the cause") > 20


def test_a_statement_of_the_agent_has_its_turn_and_its_age_the_newest_first() -> None:
    old, new = (
        "The port is 8443 in `proxy_settings` of a.py.",
        "The port is 9443 in `proxy_settings` of a.py.",
    )
    told = all_of(compacted(recent=RecentWork(texts=(said(new, 7, 1), said(old, 3, 9)))))
    assert "[SAID] by the agent, the newest first; what came later may say otherwise" in told
    assert told.index(f"  T7 (1 h ago): {new}") < told.index(f"  T3 (1 h ago): {old}")
    reported = compacted(recent=RecentWork(texts=(said(new, 7, 1).replace(is_report=True),)))
    assert f"  T7 (1 h ago, a subagent): {new}" in all_of(reported)


def test_what_stands_among_the_words_or_the_last_steps_is_not_told_again() -> None:
    prompt, text = (
        "Look at `proxy_settings`, please.",
        "The port is 8443 in `proxy_settings` of a.py, as it should be.",
    )
    steps = (Step("1", 0, PROMPT, NOW, prompt), Step("1", 1, TEXT, NOW, text))
    state = compacted(prompts=typed(prompt), recent=RecentWork(texts=(said(text),)), turns=(Turn(1, NOW, steps),))
    told = all_of(state)
    assert told.count(prompt) == told.count(text) == 1
    assert "[TURNS]" not in told


def test_what_had_no_room_is_counted_with_the_command_that_finds_it() -> None:
    texts = tuple(
        said(f"`name_{number}` in src/f{number}.py, line {number}, is the cause of it.", number)
        for number in range(900)
    )
    told = all_of(compacted(recent=RecentWork(texts=texts)), 1000)
    left = 900 - told.count("is the cause")
    assert f"[LEFT OUT] {left} commands and passages of the agent; `unified-state search WORDS` finds them" in told


def test_turns_that_the_steps_do_not_show_come_by_importance_in_what_is_left() -> None:
    old = [answered(number, f"Closed issue {number}. {'Well. ' * 20}", uses=number == 3) for number in range(1, 99)]
    told = all_of(compacted(turns=(*old, answered(99, "All done. " * 300))), 1200)
    turns = told.partition("[TURNS] by importance")[2].splitlines()[1:]
    assert any("T3 (just now) said last: Closed issue 3." in line for line in turns), "it was asked for"
    assert 3 < sum(line.startswith("  T") for line in turns) < 60


@pytest.mark.parametrize("reason", ["startup", "resume", "fork", "clear"])
def test_the_work_is_told_only_where_the_conversation_was_lost(reason: str) -> None:
    state = compacted(
        reason=reason,
        items=(item(1),),
        recent=RecentWork(texts=(said("The port is 8443 in `settings`."),), without_result=("x",)),
    )
    texts = compose(state, 2000)
    assert texts.working_set == ""
    assert not any(title in texts.brief for title in ("[USER]", "[NOW]", "[SAID]"))


def test_a_long_line_at_the_cut_makes_no_output_too_long() -> None:
    items = tuple(item(number, decision="x" * 900, rationale="") for number in range(1, 9))
    texts = tuple(said(" ".join(f"name_{number}_{word}" for word in range(30)), number) for number in range(99))
    for size in range(0, 900, 100):
        last = item(99, EVIDENCE, content="y" * size)
        state = compacted(items=(*items, last), prompts=typed("語" * 1990), recent=RecentWork(texts=texts))
        outputs = compose(state, 8000)
        assert utf16_units(outputs.working_set) > 7000
        assert max(utf16_units(outputs.brief), utf16_units(outputs.working_set)) <= MOST_UNITS


def test_a_section_that_is_cut_in_two_has_its_title_in_both_outputs() -> None:
    texts = tuple(
        said(f"`name_{number}` in src/f{number}.py, line {number}, is the cause of it.", number)
        for number in range(400)
    )
    outputs = compose(compacted(recent=RecentWork(texts=texts)), 4500)
    assert "\n[SAID] by the agent" in outputs.brief
    assert outputs.working_set.startswith(
        "[SAID] by the agent, the newest first; what came later may say otherwise (cont"
    )


def test_a_title_never_stands_alone() -> None:
    texts = tuple(said(f"`name_{number}` in src/f{number}.py is the cause of it.", number) for number in range(400))
    for units in range(600, 1400, 35):
        outputs = compose(compacted(items=(item(1),), recent=RecentWork(texts=texts)), 4500, units)
        for line, following in pairwise([*outputs.brief.splitlines(), "[", *outputs.working_set.splitlines(), "["]):
            assert not (line.startswith(("[SAID]", "[DECISIONS]")) and following.startswith("["))


def test_a_subagent_is_given_no_state_of_git_and_no_command_without_a_result() -> None:
    state = compacted(
        reason="subagent", items=(item(1),), git=GitState(branch="main"), recent=RecentWork(without_result=("make",))
    )
    assert "[NOW]" not in all_of(state)
