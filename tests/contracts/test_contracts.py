"""What is appended is there, all of it, once, unchanged; what is known better later takes its place; what was forgotten
does not come back. Every tier keeps it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import pytest

from tests.contracts.contract import START, decision, kept, session, step, steps_of, turn, uuid
from unified_state.archive.archive import Archive
from unified_state.archive.journalled_archive import JournalledArchive
from unified_state.ledger.item_table import items_called
from unified_state.model.history_records import (
    HistoryRecord,
    StoredCompaction,
    StoredItem,
    StoredLink,
    StoredSession,
    StoredStep,
    Tombstone,
)
from unified_state.search.search_archive import search
from unified_state.upkeep.forget.forget_refs import apply_tombstones
from unified_state.upkeep.history.archive_changes import append
from unified_state.upkeep.history.archive_rows import as_stored, everything

_WRITERS, _OWN, _SHARED = 8, 20, 30
_HOSTILE = (
    "日本語の決定と理由",
    "emoji 🎉 and a lone surrogate \ud83c here",
    "a NUL \0 inside, a bell \a, an escape \x1b[31m",
    "\u202eright to left\u202c and \ufeff a mark",
    "line\r\nends\rof\nall kinds",
    "'; DROP TABLE step; -- \" \\ %s {0} \N{NO-BREAK SPACE}",
    " ",
    "x" * 1_000_000,
    '{"json": [1.0, 1e400, "\\ud800"]}',
)
Open = Callable[[], Archive]
TIERS: dict[str, Callable[[Path], Archive]] = {
    "sqlite": lambda folder: Archive(str(folder / "archive.db"), seconds=30.0),
    "json": lambda folder: JournalledArchive(str(folder / "history.jsonl"), seconds=30.0),
}


@pytest.fixture(params=TIERS)
def open_it(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Opens the archive of a tier, always the same one."""
    return lambda: TIERS[request.param](tmp_path)


@pytest.fixture
def archive(open_it: Open) -> Iterator[Archive]:
    """A new archive of a tier."""
    with open_it() as archive:
        yield archive


def test_what_is_appended_comes_back_as_it_was(archive: Archive) -> None:
    first = session(worktree="/work", branch="main", ended_at=START + 5, end_reason="clear", predecessor="zero")
    item = decision(
        1,
        "D1",
        source_uuid=uuid(1),
        commit="c0ffee",
        branch="main",
        files=("a.py", "日本.py"),
        changed_at="2026-01-02T00:00:00.000Z",
        superseded_by=uuid(1_000_002),
        quote="Use SQLite",
        quote_hash="ab" * 32,
        rule="standing",
        capture_key="key-1",
        file_hashes={"a.py": "1 2 3"},
        boundary_uuid=uuid(77),
    )
    link = StoredLink(from_uuid=item.uuid, to_uuid=uuid(1_000_002), relation="supersedes", at=item.created_at)
    compaction = StoredCompaction("one", uuid(77), START + 9, "auto", 166_000, "<summary>…</summary>")
    records: list[HistoryRecord] = [first, *turn(1), compaction, item, link]
    assert append(archive, records) == len(records) - 1
    assert list(everything(archive)) == records


def test_a_batch_that_is_sent_again_changes_nothing(archive: Archive) -> None:
    records: list[HistoryRecord] = [session(), *turn(1), decision(1, "D1")]
    append(archive, records)
    before = list(everything(archive))
    assert append(archive, records) == append(archive, reversed(records)) == 0
    assert list(everything(archive)) == before


def test_an_interrupted_batch_goes_on_where_it_ended(archive: Archive) -> None:
    steps = turn(1) + turn(11)
    assert append(archive, steps[:5]) == 5
    assert append(archive, steps) == len(steps) - 5
    assert steps_of(archive) == steps


def test_of_a_batch_that_fails_half_way_nothing_is_kept(archive: Archive) -> None:
    def broken() -> Iterator[HistoryRecord]:
        yield from turn(11)
        message = "the sender fails"
        raise RuntimeError(message)

    append(archive, turn(1))
    with pytest.raises(RuntimeError):
        append(archive, broken())
    assert steps_of(archive) == turn(1)
    assert append(archive, turn(11)) == 6


def test_what_is_appended_is_there_for_whoever_opens_it_next(open_it: Open) -> None:
    with open_it() as archive:
        append(archive, [*turn(1), decision(1, "D1")])
    with open_it() as other:
        assert steps_of(other) == turn(1)
        assert len(kept(other, StoredItem)) == 1


def test_every_text_is_kept_character_by_character(archive: Archive) -> None:
    steps = [step(number, text) for number, text in enumerate(_HOSTILE, 1)]
    odd = step(90, "odd names", uuid="no uuid at all: 日本 '", tool="T\0ool", tool_use_id="日本", agent="a/b'c")
    items = [
        decision(number, f"D{number}", text, session_id=None, quote=text) for number, text in enumerate(_HOSTILE, 1)
    ]
    append(archive, [*steps, odd, *items])
    assert steps_of(archive) == [*steps, odd]
    assert kept(archive, StoredItem) == items


def test_steps_come_in_the_order_of_their_session(archive: Archive) -> None:
    """As they were appended: not by their times, which clocks bend, nor by their names; subagents' among them."""
    steps = [
        step(9, at=START + 5),
        step(3, at=START + 9, kind="text", starts_turn=False),
        step(7, at=START, agent="a1", kind="prompt"),
        step(5, at=START, kind="text", starts_turn=False),
        step(8, at=START, agent="a1", kind="text", starts_turn=False),
        step(1, at=START + 2),
    ]
    for part in (steps[:2], steps[2:5], steps[5:]):
        append(archive, part)
    assert steps_of(archive) == steps


def test_a_step_of_two_sessions_is_in_both_and_stored_once(archive: Archive) -> None:
    shared = turn(1)
    forked = [one.replace(session_id="fork") for one in shared]
    own = step(30, session_id="fork")
    assert append(archive, shared) == 6
    assert append(archive, [*forked, own]) == 7
    assert append(archive, [*forked, own]) == 0
    assert steps_of(archive, "fork") == [*forked, own]
    assert steps_of(archive) == shared
    assert archive.value("SELECT count(*) FROM step") == 7


def test_an_item_has_its_newest_version_whatever_comes_last(archive: Archive) -> None:
    first = decision(1, "D1", origin="inferred", quote="Use swordfish", quote_hash="a1")
    later = first.replace(
        body={**first.body, "decision": "Use PostgreSQL"},
        status="proposed",
        origin="observed",
        source_uuid=uuid(5),
        files=("a.py",),
        file_hashes={"a.py": "c0ffee 1 2"},
        quote="Use [MASKED]",
        quote_hash="b2",
        changed_at="2026-02-01T00:00:00.000Z",
    )
    latest = later.replace(status="active", changed_at="2026-03-01T00:00:00.000Z")
    assert append(archive, [first]) == 1
    assert append(archive, [later]) == 0
    assert kept(archive, StoredItem) == [later]
    assert append(archive, [latest, later, first]) == 0
    assert kept(archive, StoredItem) == [latest]


def test_two_items_of_one_alias_are_two_and_found_by_it(archive: Archive) -> None:
    """D7 of two people: the newcomer gets a name that nobody has or had, and both are found by D7."""
    mine, theirs, next_one = decision(7, "D7"), decision(8, "D7", "Use PostgreSQL"), decision(9, "D8", "Use neither")
    assert append(archive, [mine]) == 1
    assert append(archive, [theirs, next_one]) == 2
    assert append(archive, [theirs]) == 0
    found = kept(archive, StoredItem)
    assert [item.uuid for item in found] == [mine.uuid, theirs.uuid, next_one.uuid]
    assert len({item.alias for item in found}) == 3
    assert found[0].alias == "D7"
    assert as_stored(archive, items_called(archive, "D7")) == found[:2]
    assert found[1].aliases == ("D7",)
    assert found[1].replace(alias="D7", aliases=()) == theirs


def test_a_compaction_gets_its_summary_once_it_is_known(archive: Archive) -> None:
    bare = StoredCompaction("one", uuid(7), START, "auto", 1000)
    known = bare.replace(summary="so far")
    assert [append(archive, [one]) for one in (bare, known, bare)] == [1, 0, 0]
    assert kept(archive, StoredCompaction) == [known]


def test_a_step_that_was_masked_later_takes_the_place_of_the_other_one(archive: Archive) -> None:
    """In every session, in search and in what is exported, whichever comes first; and of two the one masked last."""
    secret = step(5, "the password is swordfish")
    half = secret.replace(text="the [MASKED] is swordfish", masked_at=START + 50)
    masked = secret.replace(text="the password is [MASKED]", masked_at=START + 99)
    early, late = step(6, "unmasked swordfish"), step(6, "it is hidden", masked_at=START)
    append(archive, [step(1), secret, secret.replace(session_id="fork"), step(9)])
    assert append(archive, [half]) == append(archive, [masked]) == 0
    assert append(archive, [half, secret, secret.replace(session_id="third"), late, early]) == 2
    assert steps_of(archive) == [step(1), masked, step(9), late]
    for name in ("fork", "third"):
        assert steps_of(archive, name) == [masked.replace(session_id=name)]
    assert not search(archive, "swordfish", 10, now=START)
    assert search(archive, "password masked", 10, now=START)[0].ref == "S2"
    assert append(archive, [step(7, "once more swordfish"), step(7, "no more", masked_at=START), masked]) == 1
    assert "swordfish" not in repr(list(everything(archive)))


def test_a_summary_that_was_masked_later_takes_the_place_of_the_other_one(archive: Archive) -> None:
    secret = StoredCompaction("one", uuid(7), START, summary="swordfish")
    half = secret.replace(masked_at=START + 50)
    masked = secret.replace(summary="[MASKED]", masked_at=START + 99)
    assert append(archive, [secret]) == 1
    assert append(archive, [half]) == append(archive, [masked]) == 0
    assert append(archive, [half, secret, secret.replace(summary=None)]) == 0
    assert kept(archive, StoredCompaction) == [masked]


def test_a_session_keeps_what_was_learned_of_it(archive: Archive) -> None:
    """A field that is not told later stays; its times are the earliest and the latest."""
    append(archive, [step(1)])
    append(archive, [session(worktree="/work")])
    append(archive, [session(branch="main").replace(started_at=START + 5, seen_at=START + 9)])
    expected = session(worktree="/work", branch="main").replace(seen_at=START + 9)
    assert kept(archive, StoredSession) == [expected]


def test_links_are_kept_once_whether_or_not_their_items_are_there(archive: Archive) -> None:
    link = StoredLink(uuid(1), uuid(2), "supersedes", "2026-01-01T00:00:00.000Z")
    assert append(archive, [link]) == 1
    assert append(archive, [link, link.replace(relation="contradicts")]) == 1
    assert kept(archive, StoredLink) == [link, link.replace(relation="contradicts")]


def test_a_forgotten_step_is_gone_and_stays_gone(archive: Archive) -> None:
    """From its session, from every fork, from search and from what is exported."""
    secret = step(5, "the password is swordfish")
    tombstone = Tombstone("step", f"{secret.uuid}/0", START + 99_000)
    append(archive, [step(1), secret, secret.replace(session_id="fork"), step(9)])
    assert apply_tombstones(archive, [tombstone]) == 1
    assert apply_tombstones(archive, [tombstone]) == 0
    assert append(archive, [secret, secret.replace(session_id="third")]) == 0
    assert kept(archive, StoredStep) == [step(1), step(9)]
    assert not search(archive, "swordfish", 10, now=START)
    assert kept(archive, Tombstone) == [tombstone]


def test_a_forgotten_item_is_gone_and_stays_gone(archive: Archive) -> None:
    """With its links; and its alias is not given again."""
    link = StoredLink(uuid(1_000_002), uuid(1_000_001), "supersedes", "2026-01-01T00:00:00.000Z")
    append(archive, [decision(1, "D1", "swordfish"), decision(2, "D2"), link])
    assert apply_tombstones(archive, [Tombstone("item", uuid(1_000_001), START)]) == 1
    assert append(archive, [decision(1, "D1", "swordfish", changed_at="2027-01-01T00:00:00.000Z"), link]) == 0
    assert kept(archive, StoredLink) == items_called(archive, "D1") == []
    append(archive, [decision(3, "D1", "another one")])
    assert "D1" not in {item.alias for item in kept(archive, StoredItem)}


def test_a_forgotten_session_is_gone_up_to_that_time(archive: Archive) -> None:
    early, late = turn(1), step(60, "later on")
    append(archive, [session(), *early, StoredCompaction("one", uuid(7), START, summary="so far")])
    apply_tombstones(archive, [Tombstone("session", "one", START + 50_000)])
    assert append(archive, [*early, late]) == 1
    assert steps_of(archive) == [late]
    assert kept(archive, StoredCompaction) == []


def test_a_forgotten_compaction_is_gone_and_stays_gone(archive: Archive) -> None:
    compaction = StoredCompaction("one", uuid(7), START, summary="so far")
    append(archive, [compaction])
    assert apply_tombstones(archive, [Tombstone("compaction", uuid(7), START)]) == 1
    assert append(archive, [compaction]) == 0
    assert kept(archive, StoredCompaction) == []


def test_a_tombstone_may_come_before_what_it_names(archive: Archive) -> None:
    stones = [Tombstone("step", f"{uuid(5)}/0", START), Tombstone("item", uuid(1_000_001), START)]
    apply_tombstones(archive, [*stones, Tombstone("session", "two", START + 50_000)])
    assert append(archive, [step(5), step(6), decision(1, "D1"), step(7, session_id="two")]) == 1
    assert kept(archive, StoredStep) == [step(6)]
    assert kept(archive, StoredItem) == []


def test_eight_writers_lose_nothing(open_it: Open) -> None:
    """Eight at once, each with steps of its own, some of all, and an item whose alias all want."""
    shared = [step(number, session_id="shared") for number in range(1, _SHARED + 1)]
    own = [
        [step(1000 * (writer + 1) + number, session_id=f"own-{writer}") for number in range(_OWN)]
        for writer in range(_WRITERS)
    ]
    failures: list[BaseException] = []

    def write(writer: int) -> None:
        try:
            with open_it() as archive:
                for one, other in zip(own[writer], shared, strict=False):
                    append(archive, [one, other])
                append(archive, [*shared, decision(writer, "D1", f"of writer {writer}")])
        except BaseException as failure:  # noqa: BLE001  # a thread's failure is told by the thread that waits for it
            failures.append(failure)

    threads = [Thread(target=write, args=(writer,)) for writer in range(_WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with open_it() as archive:
        assert sorted(one.uuid for one in steps_of(archive, "shared")) == [one.uuid for one in shared]
        assert [steps_of(archive, f"own-{writer}") for writer in range(_WRITERS)] == own
        assert len({item.alias for item in kept(archive, StoredItem)}) == _WRITERS
        assert len(items_called(archive, "D1")) == _WRITERS
