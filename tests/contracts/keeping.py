"""Contracts on keeping: what is appended is there, all of it, once, unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.contracts.contract import (
    PROJECT,
    START,
    decision,
    same,
    session,
    step,
    steps_of,
    turn,
    uuid,
)
from unified_state.model.history_records import StoredCompaction, StoredLink
from unified_state.upkeep.history.archive_store import everything

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.contracts.contract import OpenStore
    from unified_state.model.history_records import HistoryRecord

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


def an_empty_store_is_empty(open_store: OpenStore) -> None:
    """A store that was never written to has nothing, and reading it is no error."""
    with open_store(PROJECT) as store:
        same(list(everything(store)), [])
        same(store.steps("nobody"), [])
        same(store.find_items("D1"), [])


def what_is_appended_comes_back_as_it_was(open_store: OpenStore) -> None:
    """Every field of every kind of record comes back."""
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
    compaction = StoredCompaction("one", uuid(77), START + 9, "auto", 166_000, "<summary>…</summary>", "transcript")
    records: list[HistoryRecord] = [first, *turn(1), compaction, item, link]
    with open_store(PROJECT) as store:
        same(store.append(records), len(records) - 1)
        same(list(everything(store)), records)


def a_batch_sent_again_changes_nothing(open_store: OpenStore) -> None:
    """Append is idempotent, whoever sends a batch again, and in whatever order."""
    records: list[HistoryRecord] = [session(), *turn(1), decision(1, "D1")]
    with open_store(PROJECT) as store:
        store.append(records)
        before = list(everything(store))
        same(store.append(records), 0)
        same(store.append(reversed(records)), 0)
        same(list(everything(store)), before)


def an_interrupted_batch_goes_on_where_it_ended(open_store: OpenStore) -> None:
    """A batch whose beginning is there adds the rest, behind it."""
    steps = turn(1) + turn(11)
    with open_store(PROJECT) as store:
        same(store.append(steps[:5]), 5)
        same(store.append(steps), len(steps) - 5)
        same(steps_of(store), steps)


def an_append_that_fails_leaves_nothing(open_store: OpenStore) -> None:
    """All of a batch or nothing of it, also where the batch itself fails half way."""

    def broken() -> Iterator[HistoryRecord]:
        yield from turn(11)
        yield decision(2, "D2")
        message = "the sender fails"
        raise RuntimeError(message)

    with open_store(PROJECT) as store:
        store.append(turn(1))
        try:
            store.append(broken())
        except RuntimeError:
            pass  # its own error reaches the sender
        else:
            message = "the sender's error did not reach it"
            raise AssertionError(message)
        same(steps_of(store), turn(1))
        same(list(store.items()), [])
        same(store.append(turn(11)), 6)


def what_append_returned_for_is_there_after_reopening(open_store: OpenStore) -> None:
    """Nothing waits in memory."""
    writing = open_store(PROJECT)
    writing.append([*turn(1), decision(1, "D1")])
    with open_store(PROJECT) as reading:  # while the writer still stands
        same(steps_of(reading), turn(1))
        same(len(list(reading.items())), 1)
    writing.close()


def unknown_fields_are_kept(open_store: OpenStore) -> None:
    """What a newer version, or another system, added comes back as it was."""
    unknown = {"costUsd": 0.25, "nested": {"list": [1, None, True, "日本"]}, "numbers": [1.0, 1e30, -0.5, 2**53]}
    records: list[HistoryRecord] = [
        session(unknown=unknown),
        step(1, unknown=unknown),
        StoredCompaction("one", uuid(7), START, summary="so far", summary_from="transcript", unknown=unknown),
        decision(1, "D1", unknown=unknown),
    ]
    with open_store(PROJECT) as store:
        store.append(records)
        same(list(everything(store)), records)


def every_text_is_kept(open_store: OpenStore) -> None:
    """Character by character, whatever the characters are."""
    steps = [step(number, text) for number, text in enumerate(_HOSTILE, 1)]
    odd = step(90, "odd names", uuid="no uuid at all: 日本 '", tool="T\0ool \ud83c", tool_use_id="日本", agent="a/b'c")
    items = [
        decision(number, f"D{number}", text, session_id=None, quote=text) for number, text in enumerate(_HOSTILE, 1)
    ]
    with open_store(PROJECT) as store:
        store.append([*steps, odd, *items])
        same(steps_of(store), [*steps, odd])
        same(list(store.items()), items)
