"""Steps that an import has just written are read from memory, as the archive has them."""

from __future__ import annotations

import pytest

from tests.builders import NOW, uuid_of
from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.blocks.write_blocks import BlockWriter
from unified_state.memory.archive.blocks.written_steps import WrittenSteps
from unified_state.memory.archive.sessions import touch_session
from unified_state.memory.archive.steps import find_step
from unified_state.memory.archive.text_columns import forget_step
from unified_state.memory.archive.write_steps import StepWriter
from unified_state.model.step import PROMPT, TEXT, TOOL_CALL, TOOL_RESULT, Step

STEPS = [
    Step(uuid=uuid_of(1), block=0, kind=PROMPT, at=NOW, text="fix it \ud83d", starts_turn=True),
    Step(uuid="no uuid", block=1, kind=TEXT, at=NOW, text="", agent="sidechain"),
    Step(uuid=uuid_of(3), block=0, kind=TOOL_CALL, at=NOW, text='{"a":1}', tool="Té\ud83d", tool_use_id="toolu_1"),
    Step(uuid=uuid_of(4), block=0, kind=TOOL_RESULT, at=1 << 70, text="no\0rule", tool_use_id="t", is_error=True),
    Step(uuid=uuid_of(5), block=0, kind=TEXT, at=NOW, text="a long one " * 5_000),
]


@pytest.fixture
def written(archive: Archive) -> WrittenSteps:
    """The steps, written by an import."""
    with archive.transaction():
        blocks = BlockWriter(archive)
        writer = StepWriter(archive, touch_session(archive, "s", NOW), None, blocks)
        for step in STEPS:
            writer.add(step, "")
        blocks.flush()
        written = WrittenSteps(archive)
        written.keep(writer.written)
    return written


NUMBERS = range(1, len(STEPS) + 2)


def test_each_step_is_as_the_archive_has_it(archive: Archive, written: WrittenSteps) -> None:
    stored = [step.replace(starts_turn=False) for step in written.read(NUMBERS)]
    assert stored == [find_step(archive, number) for number in NUMBERS[:-1]]
    assert [step.text for step in stored] == [step.text for step in STEPS]


def test_most_steps_are_not_read_back(archive: Archive, written: WrittenSteps) -> None:
    archive.run("UPDATE step SET body = 'from the disk'")
    assert [step.text for step in written.read(NUMBERS)].count("from the disk") == 2  # the odd name, the odd time


def test_a_step_that_another_process_forgot_is_not_among_them(archive: Archive, written: WrittenSteps) -> None:
    with Archive(archive.path) as other, other.transaction():
        forget_step(other, 1)
    assert [step.uuid for step in written.read(NUMBERS)] == [step.uuid for step in STEPS[1:]]


def test_what_was_cleared_is_read_back(archive: Archive, written: WrittenSteps) -> None:
    written.clear()
    assert list(written.read(NUMBERS)) == [find_step(archive, number) for number in NUMBERS[:-1]]
