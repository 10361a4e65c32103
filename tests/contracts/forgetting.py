"""Contracts on forgetting: what the user wants gone is gone, and does not come back with the next batch."""

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
from unified_state.model.history_records import StoredCompaction, StoredLink, Tombstone
from unified_state.upkeep.history.archive_store import everything

if TYPE_CHECKING:
    from tests.contracts.contract import OpenStore


def a_forgotten_step_is_gone_and_stays_gone(open_store: OpenStore) -> None:
    """From its session, from every fork, from search and from what is exported."""
    secret = step(5, "the password is swordfish")
    tombstone = Tombstone("step", f"{secret.uuid}/0", START + 99)
    with open_store(PROJECT) as store:
        store.append([step(1), secret, secret.replace(session_id="fork"), step(9)])
        same(store.append([tombstone]), 1)
        same(store.append([tombstone, secret, secret.replace(session_id="third")]), 0)
        same(steps_of(store), [step(1), step(9)])
        same([*steps_of(store, "fork"), *steps_of(store, "third")], [])
        same("swordfish" in repr(list(everything(store))), False)
        same(list(store.tombstones()), [tombstone])


def a_forgotten_item_is_gone_and_stays_gone(open_store: OpenStore) -> None:
    """With its links; and its alias is not given again."""
    tombstone = Tombstone("item", uuid(1_000_001), START)
    link = StoredLink(uuid(1_000_002), uuid(1_000_001), "supersedes", "2026-01-01T00:00:00.000Z")
    with open_store(PROJECT) as store:
        store.append([decision(1, "D1", "swordfish"), decision(2, "D2"), link])
        same(store.append([tombstone]), 1)
        same(store.append([decision(1, "D1", "swordfish", changed_at="2027-01-01T00:00:00.000Z"), link]), 0)
        same(list(store.links()), [])
        same([item.alias for item in store.items()], ["D2"])
        same(store.find_items("D1") + store.find_items(uuid(1_000_001)), [])
        store.append([decision(3, "D1", "another one")])
        same([item.alias for item in store.find_items(uuid(1_000_003))] == ["D1"], False)


def a_forgotten_session_is_gone_up_to_that_time(open_store: OpenStore) -> None:
    """What it says later is kept."""
    early, late = turn(1), step(60, "later on")
    with open_store(PROJECT) as store:
        store.append([session(), *early, StoredCompaction("one", uuid(7), START, summary="so far")])
        same(store.append([Tombstone("session", "one", START + 50_000)]), 1)
        same(store.append([*early, late]), 1)
        same(steps_of(store), [late])
        same(list(store.compactions()), [])


def a_forgotten_compaction_is_gone_and_stays_gone(open_store: OpenStore) -> None:
    """Its summary quotes what was said."""
    compaction = StoredCompaction("one", uuid(7), START, summary="so far")
    tombstone = Tombstone("compaction", uuid(7), START)
    with open_store(PROJECT) as store:
        store.append([compaction])
        same(store.append([tombstone]), 1)
        same(store.append([compaction]), 0)
        same(list(store.compactions()), [])


def a_tombstone_may_come_before_what_it_names(open_store: OpenStore) -> None:
    """Batches overtake each other."""
    with open_store(PROJECT) as store:
        store.append([Tombstone("step", f"{uuid(5)}/0", START), Tombstone("item", uuid(1_000_001), START)])
        same(store.append([step(5), step(6), decision(1, "D1")]), 1)
        same(steps_of(store), [step(6)])
        same(list(store.items()), [])
