"""Contracts on reading: in order, in pages, each session and each project for itself."""

from __future__ import annotations

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
from unified_state.model.history_records import StoredCompaction, Tombstone
from unified_state.upkeep.history.archive_store import everything

if TYPE_CHECKING:
    from tests.contracts.contract import OpenStore
    from unified_state.model.history_records import HistoryRecord


def steps_come_in_the_order_of_their_session(open_store: OpenStore) -> None:
    """As they were appended: not by their times, which clocks bend, nor by their names; subagents' among them."""
    steps = [
        step(9, at=START + 5),
        step(3, at=START + 9, kind="text", starts_turn=False),
        step(7, at=START, agent="a1", kind="prompt"),
        step(5, at=START, kind="text", starts_turn=False),
        step(8, at=START, agent="a1", kind="text", starts_turn=False),
        step(1, at=START + 2),
    ]
    with open_store(PROJECT) as store:
        store.append(steps[:2])
        store.append(steps[2:5])
        store.append(steps[5:])
        same(steps_of(store), steps)


def sessions_do_not_mix(open_store: OpenStore) -> None:
    """A session's steps are its own, also where two are appended in turns."""
    one, two = turn(1), turn(21, "two")
    with open_store(PROJECT) as store:
        store.append([record for pair in zip(one, two, strict=True) for record in pair])
        same(steps_of(store, "one"), one)
        same(steps_of(store, "two"), two)
        same([found.session_id for found in store.sessions()], ["one", "two"])


def a_step_of_two_sessions_is_in_both_and_counts_once(open_store: OpenStore) -> None:
    """A fork holds what it was forked from, and goes on by itself."""
    shared = turn(1)
    forked = [one.replace(session_id="fork") for one in shared]
    own = step(30, session_id="fork")
    with open_store(PROJECT) as store:
        same(store.append(shared), 6)
        same(store.append([*forked, own]), 7)
        same(store.append([*forked, own]), 0)
        same(steps_of(store, "fork"), [*forked, own])
        same(steps_of(store, "one"), shared)


def projects_do_not_see_each_other(open_store: OpenStore) -> None:
    """Neither by listing, nor by name, nor by search; and the same names in both are two."""
    mine: list[HistoryRecord] = [
        session(),
        *turn(1),
        decision(1, "D1"),
        StoredCompaction("one", uuid(7), START, summary="so far"),
    ]
    with open_store(PROJECT) as store, open_store(OTHER_PROJECT) as other:
        store.append(mine)
        same(list(everything(other)), [])
        same(other.find_items("D1") + other.find_items(uuid(1_000_001)), [])
        same(other.append([step(1, "theirs"), decision(1, "D1", "Use PostgreSQL")]), 2)
        other.append([Tombstone("session", "one", START + 10**9), Tombstone("item", uuid(1_000_001), START)])
        same(steps_of(store), turn(1))
        same([item.body["decision"] for item in store.find_items("D1")], ["Use SQLite"])


def pages_are_gapless_while_the_session_grows(open_store: OpenStore) -> None:
    """Pages of any size, each from where the last one ended, are the whole."""
    steps = [step(number) for number in range(1, 26)]
    with open_store(PROJECT) as store:
        store.append(steps[:20])
        for size in (1, 3, 7, 20, 1000):
            same(steps_of(store, limit=size), steps[:20])
        found = store.steps("one", 0, 6)
        for grown in (21, 22, 23, 24, 25):
            store.append(steps[:grown])
            found += store.steps("one", found[-1][0], 6)
        same([one for _, one in found], steps)
