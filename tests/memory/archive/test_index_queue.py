"""Steps that wait for the full-text index."""

from __future__ import annotations

import pytest

from tests.builders import NOW, uuid_of
from unified_state.lib.text import pack
from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.cut_outputs import Output, archive_output
from unified_state.memory.archive.sessions import touch_session
from unified_state.memory.archive.steps import find_step, index_left, is_any_unindexed
from unified_state.memory.archive.write_steps import StepWriter, forget_step, replace_text
from unified_state.model.step import PROMPT, Step


@pytest.fixture
def waiting(archive: Archive) -> int:
    """The step of an output that was archived before its entry came."""
    output = Output(tool_use_id="t1", agent=None, at=NOW, text="quixotic line\n" * 300, digest=7)
    with archive.transaction():
        return archive_output(archive, touch_session(archive, "s", NOW), "s", output)


def found(archive: Archive, word: str) -> list[int]:
    """The steps that the index gives for a word."""
    return [number for (number,) in archive.rows("SELECT rowid FROM step_text WHERE step_text MATCH ?", word)]


def say(archive: Archive, session_id: str, text: str) -> int:
    """Archive a prompt of a session."""
    writer = StepWriter(archive, touch_session(archive, session_id, NOW), None)
    step = Step(uuid=uuid_of(9), block=0, kind=PROMPT, at=NOW, text=text, starts_turn=True)
    writer.add(step, pack(text))
    return writer.last


def test_an_output_is_indexed_when_anything_is_archived_in_any_session(archive: Archive, waiting: int) -> None:
    assert found(archive, "quixotic") == []
    say(archive, "another", "go on")
    assert found(archive, "quixotic") == [waiting]
    assert not is_any_unindexed(archive)


def test_it_is_indexed_once(archive: Archive, waiting: int) -> None:
    for _ in range(2):
        index_left(archive)
    forget_step(archive.execute, waiting)
    assert found(archive, "quixotic") == []


def test_what_is_indexed_in_a_transaction_that_fails_still_waits(archive: Archive, waiting: int) -> None:
    archive.run("BEGIN IMMEDIATE")
    index_left(archive)
    archive.run("ROLLBACK")
    assert is_any_unindexed(archive)
    index_left(archive)
    assert found(archive, "quixotic") == [waiting]


def test_one_that_is_forgotten_meanwhile_leaves_the_index_as_it_was(archive: Archive, waiting: int) -> None:
    with archive.transaction():
        forget_step(archive.execute, waiting)
    other = say(archive, "s", "a line of another")
    assert not is_any_unindexed(archive)
    assert found(archive, "line") == [other]
    archive.run("INSERT INTO step_text (step_text) VALUES ('integrity-check')")
    assert archive.row("SELECT count(*) FROM step_text WHERE step_text MATCH 'quixotic'") == (0,)


def test_one_whose_text_changes_meanwhile_is_found_by_the_new_words_only(archive: Archive, waiting: int) -> None:
    step = find_step(archive, waiting)
    assert step is not None
    with archive.transaction():
        replace_text(archive, waiting, step, "masked line")
    say(archive, "s", "go on")
    assert (found(archive, "quixotic"), found(archive, "masked")) == ([], [waiting])


def test_a_picture_is_not_indexed(archive: Archive) -> None:
    picture = Output(tool_use_id="t2", agent=None, at=NOW, text="data:image/png;base64,quixotic", digest=8)
    with archive.transaction():
        archive_output(archive, touch_session(archive, "s", NOW), "s", picture)
        index_left(archive)
    assert found(archive, "quixotic") == []
