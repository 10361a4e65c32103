"""Contracts on what changes: items, compactions and sessions are known better later."""

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
    texts,
    uuid,
)
from unified_state.model.history_records import StoredCompaction, StoredLink
from unified_state.upkeep.history.archive_store import everything

if TYPE_CHECKING:
    from tests.contracts.contract import OpenStore


def an_item_has_its_newest_version_whatever_comes_last(open_store: OpenStore) -> None:
    """By `changed_at`: a late, older version changes nothing."""
    first = decision(1, "D1")
    later = first.replace(status="superseded", changed_at="2026-02-01T00:00:00.000Z", superseded_by=uuid(5))
    latest = later.replace(status="active", changed_at="2026-03-01T00:00:00.000Z", superseded_by=None)
    with open_store(PROJECT) as store:
        same(store.append([first]), 1)
        same(store.append([latest]), 0)
        same(store.append([later, first]), 0)
        same(list(store.items()), [latest])


def the_newer_version_of_an_item_is_the_whole_of_it(open_store: OpenStore) -> None:
    """Also where it comes from, what it quotes, and what is not known of it here."""
    first = decision(1, "D1", origin="inferred", quote="Use swordfish", quote_hash="a1", unknown={"a": 1})
    later = first.replace(
        body={**first.body, "decision": "Use PostgreSQL"},
        status="proposed",
        origin="observed",
        source_uuid=uuid(5),
        files=("a.py",),
        file_hashes={"a.py": "c0ffee 1 2"},
        quote="Use [MASKED]",
        quote_hash="b2",
        unknown={"b": 2},
        changed_at="2026-02-01T00:00:00.000Z",
    )
    with open_store(PROJECT) as store:
        store.append([first])
        store.append([later])
        same(list(store.items()), [later])


def two_items_of_one_alias_are_two_and_found_by_it(open_store: OpenStore) -> None:
    """D7 of two people: the newcomer gets a name that nobody has or had, and both are found by D7."""
    mine, theirs, next_one = decision(7, "D7"), decision(8, "D7", "Use PostgreSQL"), decision(9, "D8", "Use neither")
    with open_store(PROJECT) as store:
        same(store.append([mine]), 1)
        same(store.append([theirs, next_one]), 2)
        same(store.append([theirs]), 0)
        found = list(store.items())
        same([item.uuid for item in found], [mine.uuid, theirs.uuid, next_one.uuid])
        same(len({item.alias for item in found}), 3)
        same(found[0].alias, "D7")
        same([item.uuid for item in store.find_items("D7")], [mine.uuid, theirs.uuid])
        same(store.find_items(found[1].alias)[0].uuid, theirs.uuid)
        same([item.uuid for item in store.find_items(theirs.uuid)], [theirs.uuid])
        same(found[1].aliases, ("D7",))
        same(found[1].replace(alias="D7", aliases=()), theirs)


def a_compaction_gets_its_summary_once_it_is_known(open_store: OpenStore) -> None:
    """And keeps it when the bare boundary comes again."""
    bare = StoredCompaction("one", uuid(7), START, "auto", 1000)
    known = bare.replace(summary="so far", summary_from="transcript")
    with open_store(PROJECT) as store:
        same(store.append([bare]), 1)
        same(store.append([known]), 0)
        same(store.append([bare]), 0)
        same(list(store.compactions()), [known])


def a_step_that_was_masked_later_takes_the_place_of_the_other_one(open_store: OpenStore) -> None:
    """In every session, in search and in what is exported, whichever comes first; and of two the one masked last."""
    secret = step(5, "the password is swordfish", unknown={"original": "swordfish"})
    half = secret.replace(text="the [MASKED] is swordfish", masked_at=START + 50)
    masked = secret.replace(text="the password is [MASKED]", unknown={}, masked_at=START + 99)
    early, late = step(6, "unmasked swordfish"), step(6, "it is hidden", masked_at=START)
    with open_store(PROJECT) as store:
        store.append([step(1), secret, secret.replace(session_id="fork"), step(9)])
        same(store.append([half]), 0)
        same(store.append([masked]), 0)
        same(store.append([half, secret, secret.replace(session_id="third"), late, early]), 2)
        same(steps_of(store), [step(1), masked, step(9), late])
        for name in ("fork", "third"):
            same(steps_of(store, name), [masked.replace(session_id=name)])
        same("swordfish" in repr(list(everything(store))), False)
        same(store.append([step(7, "once more swordfish"), step(7, "no more", masked_at=START), masked]), 1)
        same(texts([one for one in steps_of(store) if one.uuid == uuid(7)]), ["no more"])


def a_summary_that_was_masked_later_takes_the_place_of_the_other_one(open_store: OpenStore) -> None:
    """Whichever comes first; and of two the one masked last."""
    secret = StoredCompaction("one", uuid(7), START, summary="swordfish", unknown={"a": "swordfish"})
    half = secret.replace(unknown={}, masked_at=START + 50)
    masked = secret.replace(summary="[MASKED]", unknown={"a": "[MASKED]"}, masked_at=START + 99)
    with open_store(PROJECT) as store:
        same(store.append([secret]), 1)
        same(store.append([half]), 0)
        same(store.append([masked]), 0)
        same(store.append([half, secret, secret.replace(summary=None)]), 0)
        same(list(store.compactions()), [masked])


def a_session_keeps_what_was_learned_of_it(open_store: OpenStore) -> None:
    """A field that is not told later stays; its times are the earliest and the latest."""
    with open_store(PROJECT) as store:
        store.append([step(1)])
        store.append([session(worktree="/work", unknown={"a": 1})])
        store.append([session(branch="main", unknown={"b": 2}).replace(started_at=START + 5, seen_at=START + 9)])
        expected = session(worktree="/work", branch="main", unknown={"a": 1, "b": 2}).replace(seen_at=START + 9)
        same(list(store.sessions()), [expected])


def links_are_kept_once(open_store: OpenStore) -> None:
    """Whether or not the items are there yet."""
    link = StoredLink(uuid(1), uuid(2), "supersedes", "2026-01-01T00:00:00.000Z")
    with open_store(PROJECT) as store:
        same(store.append([link]), 1)
        same(store.append([link, link.replace(relation="contradicts")]), 1)
        same(list(store.links()), [link, link.replace(relation="contradicts")])
