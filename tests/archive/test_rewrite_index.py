from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.acceptance.index_segments import indexed_words
from tests.indexed import check_index, steps_having
from unified_state.archive.archive import Archive
from unified_state.archive.sessions import touch_session
from unified_state.archive.text_columns import forget_step, rewrite_index
from unified_state.archive.write_steps import StepWriter
from unified_state.lib.text import pack
from unified_state.model.step import TEXT, Step

NOW = 1_700_000_000_000


@pytest.fixture
def written(archive: Archive) -> Archive:
    """An archive with some segments in its index."""
    for number in range(6):
        with archive.transaction():
            session = touch_session(archive, f"s{number}", NOW)
            writer = StepWriter(archive, session, None)
            for place in range(40):
                uuid = f"{number:08x}-0000-4000-8000-{place:012x}"
                text = f"word{place} of {number} in {place * number}"
                step = Step(uuid=uuid, block=0, kind=TEXT, at=NOW, text=text, starts_turn=place == 0)
                writer.add(step, pack(text))
    return archive


def test_nothing_is_rewritten_where_nothing_was_deleted(written: Archive) -> None:
    before = written.rows("SELECT id, block FROM step_words_data ORDER BY id")
    rewrite_index(written)
    assert written.rows("SELECT id, block FROM step_words_data ORDER BY id") == before


def test_a_rewrite_leaves_one_segment_and_is_over_once(written: Archive) -> None:
    with written.transaction():
        forget_step(written, 7)
    assert written.meta("words_rewrite") == "due"
    rewrite_index(written)
    assert written.meta("words_rewrite") is None
    found = steps_having(written, "word6")
    assert found == [47, 87, 127, 167, 207]
    check_index(written)


def test_what_is_deleted_during_a_rewrite_is_rewritten_too(written: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    with written.transaction():
        forget_step(written, 7)

    waiting = [8]

    def delete_another(_seconds: float) -> None:
        if waiting:
            with written.transaction():
                forget_step(written, waiting.pop())

    monkeypatch.setattr(time, "sleep", delete_another)  # between two steps
    rewrite_index(written)
    written.run("CREATE VIRTUAL TABLE temp.words USING fts5vocab ('main', 'step_words', 'instance')")
    assert written.rows("SELECT 1 FROM words WHERE doc IN (7, 8)") == []
    (block,) = written.row("SELECT block FROM step_words_data WHERE id = 10")
    assert block
    assert written.meta("words_rewrite") is None


def test_no_segment_has_a_word_of_a_forgotten_step(archive: Archive) -> None:
    with archive.transaction():
        writer = StepWriter(archive, touch_session(archive, "s", NOW), None)
        for number in range(200):
            uuid = f"00000000-0000-4000-8000-{number:012x}"
            text = f"marmalade{number} and 数据库 {number} {'word ' * 50}"
            writer.add(Step(uuid=uuid, block=0, kind=TEXT, at=NOW, text=text, starts_turn=number == 0), pack(text))
    assert indexed_words(Path(archive.path))["marmalade149"] == {150}
    for number in (50, 150):
        forget_step(archive, number)
    rewrite_index(archive)
    words = indexed_words(Path(archive.path))
    assert {"marmalade49", "marmalade149"}.isdisjoint(words)
    assert not any({50, 150} & steps for steps in words.values())
    assert words["marmalade50"] == {51}
    assert words["word"] == {*range(1, 201)} - {50, 150}
    check_index(archive)
