"""Undo takes back the newest change of the one who asks, and a program takes back no word of the user's."""

from __future__ import annotations

import pytest

from tests.builders import BODIES, NOW
from unified_state.archive.archive import Archive
from unified_state.errors import NotAtGateError, UsageError
from unified_state.ledger.change_log import read_log
from unified_state.ledger.item_table import find_item, update_item
from unified_state.ledger.record_item import Author, record_item
from unified_state.ledger.undo_change import undo
from unified_state.model.constraint import INFERRED, USER_SAID
from unified_state.model.item import DECISION, LedgerItem
from unified_state.secrets.masker import Masker

USER, AGENT = Author(origin=USER_SAID), Author(origin=INFERRED, session_id="s")
QUOTED = AGENT.replace(origin=USER_SAID)  # as an agent records a sentence of the user


class Recorder:
    """Records decisions of anybody."""

    def __init__(self, archive: Archive, masker: Masker) -> None:
        self.archive, self.masker = archive, masker

    def __call__(self, author: Author, text: str = "Use SQLite") -> LedgerItem:
        body = {**BODIES[DECISION], "decision": text}
        return record_item(self.archive, DECISION, body, author, now=NOW)


@pytest.fixture
def record(archive: Archive, masker: Masker) -> Recorder:
    return Recorder(archive, masker)


def test_of_two_additions_in_the_same_moment_the_newer_goes_first(archive: Archive, record: Recorder) -> None:
    first, second = record(AGENT, "first"), record(AGENT, "second")
    assert [item.alias for item in undo(archive, USER, NOW).items] == [second.alias]
    assert [item.alias for item in undo(archive, USER, NOW).items] == [first.alias]
    with pytest.raises(UsageError, match="there is nothing to undo"):
        undo(archive, USER, NOW)


def test_a_program_takes_back_neither_what_it_quoted_nor_what_came_before_that(
    archive: Archive, record: Recorder
) -> None:
    own, quoted = record(AGENT, "its own"), record(QUOTED, "the user's")
    with pytest.raises(NotAtGateError, match=f"only the user undoes the addition of {quoted.alias}"):
        undo(archive, AGENT, NOW)
    assert {find_item(archive, item.alias).status for item in (own, quoted)} == {"active"}
    assert [item.alias for item in undo(archive, USER, NOW).items] == [quoted.alias]
    assert [item.alias for item in undo(archive, AGENT, NOW).items] == [own.alias]


def test_what_became_the_users_word_since_is_no_programs(archive: Archive, record: Recorder) -> None:
    item = record(AGENT)
    update_item(archive, item.replace(origin=USER_SAID))
    with pytest.raises(NotAtGateError):
        undo(archive, AGENT, NOW)


def test_a_program_without_a_session_does_not_meet_the_users_changes(archive: Archive, record: Recorder) -> None:
    program = Author(origin=INFERRED)
    own = record(program)
    record(USER, "the user's")
    assert [item.alias for item in undo(archive, program, NOW).items] == [own.alias]
    with pytest.raises(UsageError, match="there is nothing to undo"):
        undo(archive, program, NOW)


def test_the_log_keeps_the_newest_changes_alone(archive: Archive, record: Recorder) -> None:
    for number in range(60):
        record(AGENT, f"decision {number}")
    assert len(read_log(archive)) == 50
    assert undo(archive, USER, NOW).items[0].alias == "D60"
