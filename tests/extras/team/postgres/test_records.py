"""What a member sends is kept once, in its newest version, and comes back as it was; what he forgot stays forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.contracts.contract import START, decision, session, step, steps_of, turn, uuid
from tests.contracts.test_transfer import history
from tests.extras.team.team import send, sent
from unified_state.archive.archive import Archive
from unified_state.model.history_records import StoredCompaction, StoredLink, StoredStep, Tombstone
from unified_state.upkeep.history.archive_changes import append
from unified_state.upkeep.history.archive_rows import everything

if TYPE_CHECKING:
    from pathlib import Path

    from tests.extras.team.team import Team


def test_a_whole_history_comes_back_as_it_was(team: Team, tmp_path: Path) -> None:
    given, store = list(history()), team.open()
    batch = sent(*given)
    known: set[tuple[str, int]] = set()
    for place, one in enumerate(batch):
        if isinstance(one.record, StoredStep):
            name = (one.record.uuid, one.record.block)
            batch[place] = one.replace(is_copy=name in known)
            known.add(name)
    store.append(batch, "laptop", 1)
    with Archive(str(tmp_path / "a.db")) as before, Archive(str(tmp_path / "b.db")) as after:
        append(before, given)
        append(after, store.own_records())
        assert sorted(map(repr, everything(after))) == sorted(map(repr, everything(before)))
        assert steps_of(after, "fork") == steps_of(before, "fork")


def test_a_batch_that_is_sent_again_changes_nothing(team: Team) -> None:
    store = team.open()
    given = [session(), *turn(1), decision(1, "D1")]
    assert send(store, *given) == len(given)
    assert send(store, *given) == 0
    assert store.mark("laptop") == 2


def test_of_two_versions_the_newer_one_stays_whichever_comes_last(team: Team) -> None:
    store = team.open()
    early, late = decision(1, "D1"), decision(1, "D1", "Use Rust", changed_at="2026-02-01T00:00:00.000Z")
    send(store, late, step(1, "masked", masked_at=5))
    assert send(store, early, step(1, "a secret"), archive="other") == 0
    kept = list(store.own_records())
    assert [one for one in kept if one in (early, late)] == [late]
    assert [one.text for one in kept if isinstance(one, StoredStep)] == ["masked"]


def test_a_summary_that_comes_later_is_kept_and_one_that_was_masked_later_more_so(team: Team) -> None:
    store = team.open()
    bare = StoredCompaction("one", uuid(8), START)
    for version in (bare, bare.replace(summary="a secret"), bare, bare.replace(summary="masked", masked_at=3), bare):
        send(store, version)
    assert [one.summary for one in store.own_records() if isinstance(one, StoredCompaction)] == ["masked"]


def test_what_is_forgotten_leaves_no_text_and_does_not_come_back(team: Team) -> None:
    store = team.open()
    link = StoredLink(uuid(1_000_001), uuid(1_000_002), "supersedes", "2026-01-01T00:00:00.000Z")
    given = [session(), step(1, "swordfish"), decision(1, "D1", "swordfish")]
    send(store, *given, link)
    send(store, Tombstone("step", f"{uuid(1)}/0", START), Tombstone("item", uuid(1_000_001), START))
    assert send(store, *given, archive="other") == 0
    assert [type(one).__name__ for one in store.own_records()] == [
        "StoredSession",
        "StoredLink",
        "Tombstone",
        "Tombstone",
    ]
    ours = "SELECT body, words FROM unified_state.record JOIN unified_state.project AS p ON p.id = project"
    rows = team.superuser().execute(f"{ours} WHERE organisation = %s", (team.organisation,)).fetchall()
    assert len(rows) == 6  # the session, the link, what is gone and that it was forgotten
    assert "swordfish" not in repr(rows)


def test_a_tombstone_may_come_before_what_it_names(team: Team) -> None:
    store = team.open()
    send(store, Tombstone("step", f"{uuid(1)}/0", START))
    assert send(store, step(1)) == 0


def test_a_session_is_forgotten_up_to_a_time_also_what_another_archive_sends_of_it_later(team: Team) -> None:
    store = team.open()
    early, late, others = step(1), step(9), step(2)
    send(store, session(), early, late)
    send(store, Tombstone("session", "one", early.at))
    assert send(store, early, archive="other") == 0
    send(store, others.replace(at=early.at), archive="other")
    assert [one for one in store.own_records() if isinstance(one, StoredStep)] == [late]


def test_what_one_member_sends_or_forgets_is_nothing_to_another_one_with_the_same_records(team: Team) -> None:
    ada, bob = team.open("ada"), team.open("bob")
    for store in (ada, bob):
        assert send(store, session(), *turn(1)) == len(turn(1)) + 1
    send(bob, Tombstone("session", "one", START * 2))
    assert [one for one in ada.own_records() if isinstance(one, StoredStep)] == turn(1)


def test_any_text_and_names_of_any_length_are_kept(team: Team) -> None:
    store = team.open()
    texts = ["half \ud83c, a NUL \0, 日本語, \u202e \\ ' \" %s", "x" * 3_000_000, "'&|!:*", "…"]
    steps = [step(place, text, uuid=f"{'long' * 2_000}{place}") for place, text in enumerate(texts, 1)]
    send(store, session("s" * 9_000), *steps)
    assert [one for one in store.own_records() if isinstance(one, StoredStep)] == steps


def test_what_is_deleted_is_gone_and_a_later_sync_sends_it_again(team: Team) -> None:
    store = team.open()
    send(store, session(), *turn(1))
    send(store, Tombstone("step", f"{uuid(99)}/0", START))
    store.delete_own()
    assert (list(store.own_records()), store.mark("laptop")) == ([], 0)
    assert send(store, session(), *turn(1)) == len(turn(1)) + 1
