from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from tests.builders import NOW, answer, boundary, call, entry, prompt, result, summary, uuid_of
from unified_state.archive.archive import Archive
from unified_state.archive.compactions import (
    Compaction,
    Restore,
    begin_compaction,
    keep_boundary,
    keep_restore,
    keep_summary,
    keep_transcript_summary,
    latest_compaction,
    mark_delivered,
    restart_compaction,
    restores_of,
)
from unified_state.archive.sessions import touch_session
from unified_state.model.step import Boundary, Summary

BOUNDARY = Boundary(uuid="b1", at=NOW + 5, trigger="auto", pre_tokens=90_328)
SUMMARY = Summary(uuid="s1", at=NOW + 6, text="as the transcript has it")


@pytest.fixture
def session(archive: Archive) -> int:
    return touch_session(archive, "s", NOW)


def latest(archive: Archive, session: int) -> Compaction:
    found = latest_compaction(archive, session)
    assert found is not None
    return found


def count(archive: Archive) -> int:
    return int(archive.row("SELECT count(*) FROM compaction")[0])


def test_after_its_boundary_the_next_one_begins(archive: Archive, session: int) -> None:
    first = begin_compaction(archive, session, NOW)
    keep_boundary(archive, session, BOUNDARY)
    assert begin_compaction(archive, session, NOW).id != first.id


def test_a_second_pre_compact_begins_the_open_one_again(archive: Archive, session: int) -> None:
    """The one before failed, or the client fires the hook twice."""
    first = begin_compaction(archive, session, NOW, "manual")
    keep_summary(archive, first, "of the one that failed")
    again = restart_compaction(archive, session, NOW + 9, "auto")
    assert again == latest(archive, session)
    assert (again.id, again.trigger, again.started_at, again.summary) == (first.id, "auto", NOW + 9, None)


def test_a_compaction_knows_since_when_the_conversation_was_kept(archive: Archive, session: int) -> None:
    archive.run("INSERT INTO turn VALUES (1, ?, NULL, 0)", session)
    for block, at in enumerate((NOW - 7, NOW - 8)):
        archive.run("INSERT INTO step (turn, uuid, block, at) VALUES (1, 'head', ?, ?)", block, at)
    keep_boundary(archive, session, BOUNDARY.replace(kept_from="head"))
    assert latest(archive, session).kept_at == NOW - 8


@pytest.mark.parametrize("kept_from", [None, "nowhere"])
def test_where_nothing_was_kept_it_begins_at_the_boundary(
    archive: Archive, session: int, kept_from: str | None
) -> None:
    keep_boundary(archive, session, BOUNDARY.replace(kept_from=kept_from))
    assert latest(archive, session).kept_at == BOUNDARY.at


# What follows PreCompact: the raw summary at SubagentStop, SessionStart, the entries of the transcript.
ORDERS = [
    (*hooks, "boundary", "transcript")
    for count_of_hooks in range(3)
    for hooks in permutations(("raw", "start"), count_of_hooks)
]


@pytest.mark.parametrize("order", ORDERS, ids=" ".join)
def test_however_a_compaction_is_heard_of_it_is_one(archive: Archive, session: int, order: tuple[str, ...]) -> None:
    restart_compaction(archive, session, NOW, "auto")
    for name in order:
        match name:
            case "raw":
                keep_summary(archive, begin_compaction(archive, session, NOW), "raw")
            case "start":
                begin_compaction(archive, session, NOW)
            case "boundary":
                keep_boundary(archive, session, BOUNDARY)
            case "transcript":
                keep_transcript_summary(archive, session, SUMMARY)
    found = latest(archive, session)
    assert count(archive) == 1
    assert found.boundary_uuid == "b1"
    assert found.summary == ("raw" if "raw" in order else "as the transcript has it")


def test_a_boundary_that_no_hook_saw_is_a_compaction(archive: Archive, session: int) -> None:
    keep_boundary(archive, session, BOUNDARY)
    found = latest(archive, session)
    assert (found.boundary_uuid, found.boundary_at, found.trigger, found.pre_tokens) == ("b1", NOW + 5, "auto", 90_328)


def test_the_trigger_that_a_hook_told_stays(archive: Archive, session: int) -> None:
    restart_compaction(archive, session, NOW, "manual")
    keep_boundary(archive, session, BOUNDARY)
    assert latest(archive, session).trigger == "manual"


def test_a_boundary_that_is_read_again_changes_nothing(archive: Archive, session: int) -> None:
    keep_boundary(archive, session, BOUNDARY)
    begin_compaction(archive, session, NOW)
    keep_boundary(archive, session, BOUNDARY)
    assert count(archive) == 2
    assert latest(archive, session).boundary_uuid is None


def test_a_boundary_that_a_fork_copied_is_its_parents(archive: Archive, session: int) -> None:
    keep_boundary(archive, session, BOUNDARY)
    fork = touch_session(archive, "fork", NOW)
    keep_boundary(archive, fork, BOUNDARY)
    keep_transcript_summary(archive, fork, SUMMARY)
    assert latest_compaction(archive, fork) is None


def test_the_summary_of_a_hook_is_not_replaced_by_the_shorter_one(archive: Archive, session: int) -> None:
    keep_summary(archive, begin_compaction(archive, session, NOW), "raw")
    keep_boundary(archive, session, BOUNDARY)
    keep_transcript_summary(archive, session, SUMMARY)
    assert latest(archive, session).summary == "raw"


def test_without_a_hook_the_transcripts_summary_is_kept(archive: Archive, session: int) -> None:
    keep_boundary(archive, session, BOUNDARY)
    keep_transcript_summary(archive, session, SUMMARY)
    assert latest(archive, session).summary == "as the transcript has it"


def test_a_summary_that_is_read_again_is_not_that_of_the_next_compaction(archive: Archive, session: int) -> None:
    """A transcript that was replaced is read from its beginning, while the next compaction may be under way."""
    keep_boundary(archive, session, BOUNDARY)
    keep_transcript_summary(archive, session, SUMMARY)
    restart_compaction(archive, session, NOW + 9, "auto")
    keep_boundary(archive, session, BOUNDARY)
    keep_transcript_summary(archive, session, SUMMARY)
    assert latest(archive, session).summary is None


def test_a_summary_without_a_compaction_is_left_out(archive: Archive, session: int) -> None:
    keep_transcript_summary(archive, session, SUMMARY)
    assert count(archive) == 0


def restore(nonce: str, compaction: int | None, at: int = NOW) -> Restore:
    return Restore(nonce, 1, compaction, "brief", at, None, f"text {nonce}")


def test_what_was_given_back_after_a_compaction_is_known_in_order(archive: Archive, session: int) -> None:
    compaction = begin_compaction(archive, session, NOW).id
    texts = [restore("b", compaction), restore("a", compaction, NOW + 1)]
    for text in (*texts, restore("c", None)):
        keep_restore(archive, text)
    assert restores_of(archive, compaction) == texts


def test_a_text_that_arrived_is_marked_once(archive: Archive, session: int) -> None:
    compaction = begin_compaction(archive, session, NOW).id
    keep_restore(archive, restore("a", compaction))
    for at in (NOW + 1, NOW + 2):
        mark_delivered(archive, ("a", "unknown"), at)
    assert restores_of(archive, compaction)[0].delivered_at == NOW + 1


Keep = Callable[..., None]


def ended(number: int) -> dict[str, Any]:
    """What the client writes after a turn: an entry that is not archived, to which the next prompt is tied."""
    return entry(number, "system", subtype="turn_duration", durationMs=5)


def turns(*texts: str) -> list[dict[str, Any]]:
    """Turns of three entries each: numbers 0-2, 3-5, …"""
    return [
        step
        for turn, text in enumerate(texts)
        for step in (prompt(3 * turn, text), answer(3 * turn + 1, "done"), ended(3 * turn + 2))
    ]


def read_rewinds(archive: Archive) -> list[tuple[int, int]]:
    """After and until when what a session said was taken back."""
    return archive.rows("SELECT after_at, until_at FROM rewind ORDER BY until_at")


@pytest.mark.parametrize(("goes_on_from", "after"), [(2, 2999), (1, 1000)], ids=["a turn", "an answer"])
def test_a_prompt_that_goes_on_from_earlier_takes_the_later_turns_back(
    keep: Keep, archive: Archive, goes_on_from: int, after: int
) -> None:
    keep(*turns("one", "two", "three"))
    keep(prompt(9, "another way", parentUuid=uuid_of(goes_on_from)))
    assert read_rewinds(archive) == [(NOW + after, NOW + 9000)]


def test_a_rewind_to_the_first_prompt_takes_all_back(keep: Keep, archive: Archive) -> None:
    keep(*turns("one", "two"))
    keep(prompt(6, "anew", parentUuid=None))
    assert read_rewinds(archive) == [(NOW - 1, NOW + 6000)]


def test_a_conversation_that_simply_goes_on_takes_nothing_back(keep: Keep, archive: Archive) -> None:
    for step in turns("one", "two", "three"):
        keep(step)
    assert read_rewinds(archive) == []


def test_results_of_parallel_calls_take_nothing_back(keep: Keep, archive: Archive) -> None:
    calls = answer(1, call("a", "Read", file_path="a"), call("b", "Read", file_path="b"))
    keep(prompt(0, "one"), calls, result(2, "a", "x"), result(3, "b", "y", parentUuid=uuid_of(1)), ended(4))
    keep(prompt(5, "two", parentUuid=uuid_of(2)))
    assert read_rewinds(archive) == []


def test_a_compaction_takes_nothing_back(keep: Keep, archive: Archive) -> None:
    keep(*turns("one", "two"))
    keep(boundary(6, parentUuid=None, logicalParentUuid=uuid_of(5)), summary(7, "what was said"), prompt(8, "three"))
    assert read_rewinds(archive) == []


def test_reading_the_transcript_again_takes_nothing_back(keep: Keep, archive: Archive, tmp_path: Path) -> None:
    keep(*turns("one", "two"))
    archive.run("UPDATE transcript SET offset = 0")
    keep(*turns("one", "two"))
    assert read_rewinds(archive) == []


def test_what_a_fork_copied_takes_nothing_back(keep: Keep, archive: Archive) -> None:
    keep(*turns("one", "two"))
    keep(*turns("one", "two"), session="fork")
    keep(prompt(6, "three"))
    keep(prompt(7, "three", sessionId="fork", parentUuid=uuid_of(5)), session="fork")
    assert read_rewinds(archive) == []


def test_an_unknown_parent_takes_nothing_back(keep: Keep, archive: Archive) -> None:
    keep(*turns("one", "two"))
    keep(prompt(6, "three", parentUuid=uuid_of(999)))
    assert read_rewinds(archive) == []
