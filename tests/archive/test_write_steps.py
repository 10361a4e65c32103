from __future__ import annotations

import pytest

from tests.builders import NOW, uuid_of
from tests.indexed import steps_having
from unified_state.archive.archive import Archive
from unified_state.archive.sessions import touch_session
from unified_state.archive.steps import find_step, last_turns, step_numbers, steps_of_turn
from unified_state.archive.text_columns import forget_step, replace_text
from unified_state.archive.write_steps import StepWriter
from unified_state.lib.query import fts_query
from unified_state.lib.text import index_text, pack
from unified_state.model.step import ATTACHMENT, NOTICE, PROMPT, TEXT, TOOL_CALL, TOOL_RESULT, Step

IMAGE = "data:image/png;base64,aGVsbG8="


def step(number: int, kind: str, text: str, **fields: object) -> Step:
    named = {"tool": "Bash"} if kind == TOOL_CALL else {}
    return Step(
        **{  # type: ignore[arg-type]  # put together by name
            "uuid": uuid_of(number),
            "block": 0,
            "kind": kind,
            "at": NOW + number,
            "text": text,
            "starts_turn": kind == PROMPT,
            **named,
            **fields,
        }
    )


TURN = [
    step(1, PROMPT, "fix it"),
    step(2, TEXT, "I look"),
    step(3, TOOL_CALL, '{"command":"make"}'),
    step(4, TOOL_RESULT, "no rule", is_error=True),
    step(5, TEXT, "done"),
]


@pytest.fixture
def session(archive: Archive) -> int:
    return touch_session(archive, "s", NOW)


@pytest.fixture
def other(archive: Archive) -> int:
    return touch_session(archive, "other", NOW)


def add(archive: Archive, session: int, *steps: Step) -> StepWriter:
    """Write steps as a capture does: within one transaction, in the turn that is open."""
    with archive.transaction():
        writer = StepWriter(archive, session, next(iter(last_turns(archive, session, 1)), None))
        for new in steps:
            writer.add(new, pack(new.text))
    return writer


def texts(archive: Archive, session: int) -> list[str]:
    found = (find_step(archive, number) for number in step_numbers(archive, session))
    return [kept.text for kept in found if kept is not None]


def found_by(archive: Archive, *words: str) -> list[int]:
    return steps_having(archive, fts_query([index_text(word) for word in words]))


def test_a_prompt_opens_a_turn_and_the_rest_belongs_to_it(archive: Archive, session: int) -> None:
    add(archive, session, *TURN, step(6, PROMPT, "and this"), step(7, TEXT, "yes"))
    turns = [[kept.text for _, kept in steps_of_turn(archive, turn)] for turn in (1, 2)]
    assert turns == [["fix it", "I look", '{"command":"make"}', "no rule", "done"], ["and this", "yes"]]


def test_a_session_that_does_not_begin_with_a_prompt_has_a_turn_all_the_same(archive: Archive, session: int) -> None:
    add(archive, session, step(1, NOTICE, "hello"), step(2, TEXT, "hi"))
    assert [kept.text for _, kept in steps_of_turn(archive, 1)] == ["hello", "hi"]


def test_a_turn_knows_its_subagent(archive: Archive, session: int) -> None:
    add(archive, session, step(1, PROMPT, "look", agent="a1"))
    assert archive.row("SELECT agent FROM turn")[0] == "a1"
    assert last_turns(archive, session, 1) == []


def test_a_fork_shares_what_it_copied_and_stores_it_once(archive: Archive, session: int, other: int) -> None:
    add(archive, session, *TURN)
    writer = add(archive, other, *TURN, step(6, PROMPT, "elsewhere"))
    assert writer.added == 1
    assert texts(archive, other) == [*(original.text for original in TURN), "elsewhere"]
    assert texts(archive, session) == [original.text for original in TURN]
    assert archive.row("SELECT count(*) FROM step")[0] == 6


def test_a_fork_that_goes_on_within_a_shared_turn_keeps_its_own_steps(
    archive: Archive, session: int, other: int
) -> None:
    add(archive, session, *TURN)
    add(archive, other, *TURN[:2], step(6, TEXT, "another way"))
    assert texts(archive, other) == ["fix it", "I look", "another way"]
    assert texts(archive, session) == [original.text for original in TURN]


def test_what_the_user_had_forgotten_does_not_come_back(archive: Archive, session: int) -> None:
    archive.run("UPDATE session SET forgotten_at = ?", NOW + 3)
    add(archive, session, *TURN)
    assert texts(archive, session) == ["no rule", "done"]


def test_an_image_is_kept_but_not_indexed(archive: Archive, session: int) -> None:
    add(archive, session, step(1, ATTACHMENT, IMAGE))
    assert texts(archive, session) == [IMAGE]
    assert archive.row("SELECT count(*) FROM step_words_docsize")[0] == 0


def test_a_forgotten_step_is_gone_and_does_not_come_back(archive: Archive, session: int) -> None:
    add(archive, session, *TURN)
    forget_step(archive, 3)
    assert find_step(archive, 3) is None
    assert found_by(archive, "make") == []
    assert add(archive, session, *TURN).added == 0
    assert found_by(archive, "make") == []


def test_a_text_can_be_replaced_where_it_stands(archive: Archive, session: int) -> None:
    add(archive, session, *TURN)
    replace_text(archive, 2, TURN[1], "[MASKED]")
    assert texts(archive, session)[1] == "[MASKED]"
    assert (found_by(archive, "look"), found_by(archive, "masked")) == ([], [2])


def test_an_image_is_kept_once_a_session(archive: Archive, session: int, other: int) -> None:
    add(archive, session, step(1, PROMPT, "look"), step(2, ATTACHMENT, IMAGE), step(3, ATTACHMENT, IMAGE))
    add(archive, session, step(4, ATTACHMENT, IMAGE), step(5, ATTACHMENT, f"{IMAGE}x"))
    add(archive, other, step(6, ATTACHMENT, IMAGE))
    texts = [found.text for number in range(2, 7) if (found := find_step(archive, number))]
    again = f"[the same as in entry {uuid_of(2)}]"
    assert texts == [IMAGE, again, again, f"{IMAGE}x", IMAGE]
