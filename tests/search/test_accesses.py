from __future__ import annotations

import sqlite3
from sqlite3 import OperationalError

import pytest

from tests.builders import NOW, uuid_of
from unified_state.archive.archive import Archive
from unified_state.archive.sessions import touch_session
from unified_state.archive.write_steps import StepWriter
from unified_state.model.step import PROMPT, Step
from unified_state.search.search_archive import HALF_LIFE, access_weights, note_accesses

WEEK = int(HALF_LIFE)


@pytest.fixture
def filled(archive: Archive) -> Archive:
    """An archive with four steps."""
    with archive.transaction():
        writer = StepWriter(archive, touch_session(archive, "s", NOW), None)
        for number in range(1, 5):
            writer.add(Step(uuid=uuid_of(number), block=0, kind=PROMPT, at=NOW, text="p", starts_turn=True), "p")
    return archive


def weight(archive: Archive, step: int, now: int) -> float:
    return access_weights(archive, [step], now)[step]


def test_an_access_weighs_half_after_a_week(filled: Archive) -> None:
    note_accesses(filled, [2], 1.0, NOW)
    assert weight(filled, 2, NOW) == pytest.approx(1.0)
    assert weight(filled, 2, NOW + WEEK) == pytest.approx(0.5)


def test_however_often_it_was_asked_for_it_weighs_one_at_most(filled: Archive) -> None:
    for _ in range(100):
        note_accesses(filled, [2], 1.0, NOW)
    assert weight(filled, 2, NOW) == 1.0


def test_it_does_not_wait_for_a_writer_and_leaves_no_transaction_open(filled: Archive) -> None:
    other = sqlite3.connect(filled.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(OperationalError):
        note_accesses(filled, [2], 1.0, NOW)
    assert not filled.connection.in_transaction
    other.execute("ROLLBACK")
    other.close()
    note_accesses(filled, [2], 1.0, NOW)
