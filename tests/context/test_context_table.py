from __future__ import annotations

import pytest

from tests.builders import NOW, SESSION
from unified_state.archive.archive import Archive
from unified_state.archive.compactions import begin_compaction, keep_boundary
from unified_state.archive.sessions import touch_session
from unified_state.context.context_table import (
    keep_watched,
    newest_cut,
    phase_reached,
    seen_limits,
    take_line,
)
from unified_state.model.context_usage import OK, WARNING, Limit, UsageRecord
from unified_state.model.step import Boundary

WATCHED = UsageRecord(120_000, Limit(167_000, "default"), WARNING, WARNING, 0)


@pytest.fixture
def session(archive: Archive) -> int:
    return touch_session(archive, SESSION, NOW)


def compacted(archive: Archive, session: int, uuid: str, tokens: int, trigger: str = "auto") -> None:
    """A compaction that was done."""
    keep_boundary(archive, session, Boundary(uuid, NOW, trigger, tokens))


def test_the_highest_phase_counts_until_the_next_compaction(archive: Archive, session: int) -> None:
    assert phase_reached(archive, session, 0) == OK
    keep_watched(archive, session, WATCHED, None)
    assert [phase_reached(archive, session, cycle) for cycle in (0, 1)] == [WARNING, OK]


def test_a_line_is_told_once(archive: Archive, session: int) -> None:
    keep_watched(archive, session, WATCHED, "it fills up")
    keep_watched(archive, session, WATCHED, None)
    assert [take_line(archive, session), take_line(archive, session)] == ["it fills up", ""]


def test_a_line_is_not_told_after_the_conversation_was_compacted(archive: Archive, session: int) -> None:
    keep_watched(archive, session, WATCHED, "it fills up")
    compacted(archive, session, "b1", 164_000)
    assert take_line(archive, session) == ""


def test_a_compaction_that_is_only_begun_cuts_nothing(archive: Archive, session: int) -> None:
    keep_watched(archive, session, WATCHED, "it fills up")
    begin_compaction(archive, session, NOW)
    assert newest_cut(archive, session) == (0, 0)
    assert take_line(archive, session) == "it fills up"


def test_only_what_the_client_did_by_itself_tells_its_limit(archive: Archive, session: int) -> None:
    compacted(archive, session, "b1", 40_000, "manual")
    assert seen_limits(archive, session, 200_000) == []
    compacted(archive, session, "b2", 164_000)
    compacted(archive, session, "b3", 158_000)
    assert seen_limits(archive, session, 200_000) == [158_000, 164_000]


def test_other_sessions_tell_it_where_their_window_is_the_same(archive: Archive, session: int) -> None:
    for name, tokens in (("usual", 164_000), ("large", 967_000), ("unknown", 90_000)):
        other = touch_session(archive, name, NOW)
        compacted(archive, other, name, tokens)
    assert seen_limits(archive, session, 200_000) == [164_000]
    assert seen_limits(archive, session, 1_000_000) == [967_000]
