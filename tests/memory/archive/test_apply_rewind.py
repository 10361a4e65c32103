from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.builders import NOW, SESSION, answer, boundary, call, entry, prompt, result, summary, uuid_of
from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.compactions import Rewind, read_rewinds

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


def test_a_prompt_that_goes_on_from_an_earlier_turn_takes_the_later_ones_back(keep: Keep, archive: Archive) -> None:
    keep(*turns("one", "two", "three"))
    keep(prompt(9, "another way", parentUuid=uuid_of(2)))
    assert read_rewinds(archive) == [Rewind(SESSION, after_at=NOW + 2999, until_at=NOW + 9000)]


def test_a_prompt_that_goes_on_from_an_earlier_answer_takes_the_later_turns_back(keep: Keep, archive: Archive) -> None:
    keep(*turns("one", "two", "three"))
    keep(prompt(9, "another way", parentUuid=uuid_of(1)))
    assert read_rewinds(archive) == [Rewind(SESSION, after_at=NOW + 1000, until_at=NOW + 9000)]


def test_it_is_seen_wherever_a_hook_cuts_the_transcript(keep: Keep, archive: Archive) -> None:
    for step in [*turns("one", "two"), prompt(6, "another way", parentUuid=uuid_of(2)), answer(7, "done")]:
        keep(step)
    assert read_rewinds(archive) == [Rewind(SESSION, after_at=NOW + 2999, until_at=NOW + 6000)]


def test_a_rewind_to_the_first_prompt_takes_all_back(keep: Keep, archive: Archive) -> None:
    keep(*turns("one", "two"))
    keep(prompt(6, "anew", parentUuid=None))
    assert read_rewinds(archive) == [Rewind(SESSION, after_at=NOW - 1, until_at=NOW + 6000)]


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
