"""Steps that wait for the full-text index."""

from __future__ import annotations

import re
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import NOW, uuid_of
from tests.indexed import check_index, steps_having
from unified_state.archive.archive import Archive
from unified_state.archive.cut_outputs import Output, archive_output
from unified_state.archive.sessions import touch_session
from unified_state.archive.steps import (
    KIND_NUMBERS,
    find_placed,
    find_step,
    index_left,
    last_entry_at,
    last_turns,
    readable,
    searchable,
    uuid_key,
    uuid_text,
)
from unified_state.archive.text_columns import forget_step, replace_text
from unified_state.archive.write_steps import StepWriter
from unified_state.lib.text import UNREADABLE, pack
from unified_state.model.step import KINDS, PROMPT, TEXT, TOOL_CALL, Step


def fill(archive: Archive, session_id: str, *steps: Step) -> int:
    with archive.transaction():
        session = touch_session(archive, session_id, NOW)
        writer = StepWriter(archive, session, None)
        for step in steps:
            writer.add(step, pack(step.text))
    return session


def prompt(number: int, text: str = "p") -> Step:
    return Step(uuid=uuid_of(number), block=0, kind=PROMPT, at=NOW, text=text, starts_turn=True)


def said(number: int, text: str = "t", agent: str | None = None) -> Step:
    return Step(uuid=uuid_of(number), block=0, kind=TEXT, at=NOW, text=text, agent=agent)


def test_every_kind_has_its_number() -> None:
    assert {kind: KINDS[number] for kind, number in KIND_NUMBERS.items()} == {kind: kind for kind in KINDS}


def test_the_last_entry_is_the_newest_of_the_session_itself(archive: Archive) -> None:
    session = fill(archive, "s", prompt(1), said(2).replace(at=NOW + 7))
    with archive.transaction():
        StepWriter(archive, session, None).add(said(3, agent="x").replace(at=NOW + 9), "b")
    assert last_entry_at(archive, session) == NOW + 7


def test_a_fork_has_the_turns_it_shares(archive: Archive) -> None:
    fill(archive, "s", prompt(1), prompt(2), prompt(3))
    fork = fill(archive, "fork", prompt(1), prompt(2), prompt(9))
    assert last_turns(archive, fork, 9) == [4, 2, 1]


def test_a_tool_call_is_searched_by_its_name_and_the_texts_of_its_input() -> None:
    step = Step(uuid="u", block=0, kind=TOOL_CALL, at=0, text='{"command":"echo \\"ü\\""}', tool="Bash")
    assert searchable(step).split() == ["bash", "echo", "ü"]


@pytest.mark.parametrize("text", [UNREADABLE, '{"command": ', ""])
def test_a_tool_call_whose_input_is_damaged_is_shown_as_it_is(text: str) -> None:
    step = Step(uuid="u", block=0, kind=TOOL_CALL, at=0, text=text, tool="Bash")
    assert (readable(step), searchable(step).split()) == (f"Bash\n{text}", ["bash", *re.findall(r"\w+", text)])


def test_what_is_shown_of_a_step_is_as_it_was_written_and_not_as_it_is_indexed() -> None:
    step = Step(uuid="u", block=0, kind=TEXT, at=0, text="数据库")
    assert (readable(step), searchable(step).split()) == ("数据库", ["数据", "据库", "库"])


def test_steps_are_placed_in_their_sessions(archive: Archive) -> None:
    first = fill(archive, "s", prompt(1, "a"), said(2, "b"))
    second = fill(archive, "t", prompt(1, "a"), prompt(3, "c"))
    forget_step(archive, 2)
    placed = find_placed(archive, [3, 2, 1, 99])
    assert [(number, found.step.text, found.session, found.session_id) for number, found in placed.items()] == [
        (1, "a", first, "s"),
        (3, "c", second, "t"),
    ]
    assert find_placed(archive, []) == {}


@given(st.uuids() | st.text() | st.uuids().map(lambda value: str(value).upper()) | st.uuids().map(lambda u: u.hex))
def test_every_uuid_comes_back_as_it_was(value: uuid.UUID | str) -> None:
    assert uuid_text(uuid_key(str(value))) == str(value)


@pytest.mark.parametrize(("text", "size"), [(uuid_of(1), 16), ("x" * 36, 36), ("stop/s/1", 8)])
def test_a_usual_uuid_takes_sixteen_bytes(text: str, size: int) -> None:
    assert len(uuid_key(text)) == size


@pytest.fixture
def waiting(archive: Archive) -> int:
    """The step of an output that was archived before its entry came."""
    output = Output(tool_use_id="t1", agent=None, at=NOW, text="quixotic line\n" * 300, digest=7)
    with archive.transaction():
        return archive_output(archive, touch_session(archive, "s", NOW), "s", output)


def say(archive: Archive, session_id: str, text: str) -> int:
    """Archive a prompt of a session."""
    writer = StepWriter(archive, touch_session(archive, session_id, NOW), None)
    step = Step(uuid=uuid_of(9), block=0, kind=PROMPT, at=NOW, text=text, starts_turn=True)
    writer.add(step, pack(text))
    return writer.last


def test_an_output_is_indexed_when_anything_is_archived_in_any_session(archive: Archive, waiting: int) -> None:
    assert steps_having(archive, "quixotic") == []
    say(archive, "another", "go on")
    assert steps_having(archive, "quixotic") == [waiting]
    assert not archive.rows("SELECT step FROM unindexed")


def test_it_is_indexed_once(archive: Archive, waiting: int) -> None:
    for _ in range(2):
        index_left(archive)
    forget_step(archive, waiting)
    assert steps_having(archive, "quixotic") == []


def test_what_is_indexed_in_a_transaction_that_fails_still_waits(archive: Archive, waiting: int) -> None:
    archive.run("BEGIN IMMEDIATE")
    index_left(archive)
    archive.run("ROLLBACK")
    assert archive.rows("SELECT step FROM unindexed")
    index_left(archive)
    assert steps_having(archive, "quixotic") == [waiting]


def test_one_that_is_forgotten_meanwhile_leaves_the_index_as_it_was(archive: Archive, waiting: int) -> None:
    with archive.transaction():
        forget_step(archive, waiting)
    other = say(archive, "s", "a line of another")
    assert not archive.rows("SELECT step FROM unindexed")
    assert steps_having(archive, "line") == [other]
    check_index(archive)
    assert steps_having(archive, "quixotic") == []


def test_one_whose_text_changes_meanwhile_is_found_by_the_new_words_only(archive: Archive, waiting: int) -> None:
    step = find_step(archive, waiting)
    assert step is not None
    with archive.transaction():
        replace_text(archive, waiting, step, "masked line")
    say(archive, "s", "go on")
    assert (steps_having(archive, "quixotic"), steps_having(archive, "masked")) == ([], [waiting])


def test_a_picture_is_not_indexed(archive: Archive) -> None:
    picture = Output(tool_use_id="t2", agent=None, at=NOW, text="data:image/png;base64,quixotic", digest=8)
    with archive.transaction():
        archive_output(archive, touch_session(archive, "s", NOW), "s", picture)
        index_left(archive)
    assert steps_having(archive, "quixotic") == []
