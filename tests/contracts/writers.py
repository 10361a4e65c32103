"""Contracts on the way between stores, and on many writers at once."""

from __future__ import annotations

from threading import Thread
from typing import TYPE_CHECKING

from tests.contracts.contract import (
    OTHER_PROJECT,
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
from unified_state.model.history_records import StoredCompaction, StoredLink, Tombstone
from unified_state.upkeep.history.archive_store import everything

if TYPE_CHECKING:
    from tests.contracts.contract import OpenStore
    from unified_state.model.history_records import HistoryRecord

_WRITERS, _OWN, _SHARED = 8, 20, 30


def an_export_taken_in_is_exported_the_same(open_store: OpenStore) -> None:
    """All that a store holds makes another one that holds the same."""
    fork = [one.replace(session_id="fork") for one in turn(1)]
    records: list[HistoryRecord] = [
        session(branch="main", unknown={"a": 1}),
        *turn(1),
        *turn(11),
        session("fork", predecessor="one"),
        *fork,
        step(40, session_id="fork", unknown={"b": [2]}),
        step(41, "a subagent's", session_id="fork", agent="a1"),
        step(42, "swordfish"),
        decision(7, "D7"),
        decision(8, "D7", "Use PostgreSQL"),
        StoredLink(uuid(1_000_008), uuid(1_000_007), "contradicts", "2026-01-01T00:00:00.000Z"),
        StoredCompaction("one", uuid(77), START, "manual", 5, "so far", "transcript"),
        Tombstone("step", f"{uuid(42)}/0", START),
    ]
    with open_store(PROJECT) as store, open_store(OTHER_PROJECT) as other:
        store.append(records)
        exported = list(everything(store))
        other.append(exported)
        same(list(everything(other)), exported)


def eight_writers_lose_nothing(open_store: OpenStore) -> None:
    """Eight at once, each with steps of its own, some of all, and an item whose alias all want."""
    shared = [step(number, session_id="shared") for number in range(1, _SHARED + 1)]
    failures: list[BaseException] = []

    def write(writer: int) -> None:
        try:
            with open_store(PROJECT) as store:
                for number in range(_OWN):
                    store.append([step(1000 * writer + number, session_id=f"own-{writer}"), shared[number]])
                store.append([*shared, decision(writer, "D1", f"of writer {writer}")])
        except BaseException as failure:  # noqa: BLE001  # a thread's failure is told by the thread that waits for it
            failures.append(failure)

    threads = [Thread(target=write, args=(writer,)) for writer in range(1, _WRITERS + 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    same(failures, [])
    with open_store(PROJECT) as store:
        same(sorted(one.uuid for one in steps_of(store, "shared")), [one.uuid for one in shared])
        for writer in range(1, _WRITERS + 1):
            own = [step(1000 * writer + number, session_id=f"own-{writer}") for number in range(_OWN)]
            same(steps_of(store, f"own-{writer}"), own)
        same(len({item.alias for item in store.items()}), _WRITERS)
        same(len(store.find_items("D1")), _WRITERS)
