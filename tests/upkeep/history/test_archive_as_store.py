"""The archive that hooks write, as a store of history."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders import (
    NOW,
    SESSION,
    answer,
    boundary,
    call,
    item,
    prompt,
    result,
    summary,
    uuid_of,
    write_transcript,
)
from tests.builders import append as extend
from tests.contracts.contract import kept, steps_of
from tests.forgetting import forget_ref, forget_session, forget_text
from unified_state.archive.archive import Archive
from unified_state.archive.compactions import Restore, keep_restore
from unified_state.archive.export_steps import export_steps
from unified_state.archive.session_work import add_notes
from unified_state.archive.sessions import session_number
from unified_state.capture.capture_transcript import Capture
from unified_state.ledger.item_table import find_item, insert_item
from unified_state.model.history_records import StoredItem, StoredStep, Tombstone
from unified_state.model.hook_event import Moment
from unified_state.secrets.masker import Masker
from unified_state.upkeep.forget.forget_refs import apply_tombstones
from unified_state.upkeep.history.archive_changes import append
from unified_state.upkeep.history.archive_rows import everything

DIALOGUE = (
    prompt(1, "fix it"),
    answer(2, "I look", call("toolu_1", "Bash", command="make")),
    result(3, "toolu_1", "no rule", is_error=True),
    answer(4, "done, swordfish"),
    boundary(5),
    summary(6, "so far"),
    prompt(7, "go on"),
)


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    return write_transcript(tmp_path / "projects" / f"{SESSION}.jsonl", *DIALOGUE)


def capture(archive: Archive, masker: Masker, transcript: Path) -> None:
    Capture(archive, masker, Moment(NOW)).transcript(str(transcript), SESSION, None, to_end=True)


@pytest.fixture
def store(archive: Archive, masker: Masker, transcript: Path) -> Archive:
    """The archive of a session that a hook kept."""
    capture(archive, masker, transcript)
    insert_item(archive, item(1, origin="user_said"))
    return archive


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Archive]:
    """A new archive elsewhere."""
    with Archive(str(tmp_path / "other" / "archive.db")) as other:
        yield other


def test_an_archive_that_took_it_holds_the_same_and_does_not_archive_the_transcript_twice(
    store: Archive, other: Archive, masker: Masker, transcript: Path
) -> None:
    append(other, everything(store))
    before = list(everything(other))
    assert before == list(everything(store))
    capture(other, masker, transcript)
    assert kept(other, StoredStep) == [one for one in before if isinstance(one, StoredStep)]


def test_the_turns_of_a_transcript_that_goes_on_follow_what_was_taken(
    store: Archive, other: Archive, masker: Masker, transcript: Path
) -> None:
    append(other, everything(store))
    extend(transcript, answer(8, "on it"))
    capture(other, masker, transcript)
    steps = steps_of(other, SESSION)
    assert [(step.text, step.starts_turn) for step in steps[-2:]] == [("go on", True), ("on it", False)]


def test_every_way_of_forgetting_leaves_a_tombstone(store: Archive) -> None:
    forget_text(store, "swordfish", NOW)
    assert [stone.key for stone in kept(store, Tombstone) if stone.what == "step"] == [f"{uuid_of(4)}/0"]
    forget_ref(store, "D1")
    forget_ref(store, "K1")
    assert {stone.what for stone in kept(store, Tombstone)} == {"step", "item", "compaction"}
    forget_session(store, SESSION, NOW)
    assert Tombstone("session", SESSION, NOW) in kept(store, Tombstone)


def test_what_was_forgotten_here_is_forgotten_where_it_was_taken_to(store: Archive, other: Archive) -> None:
    append(other, everything(store))
    forget_text(store, "swordfish", NOW)
    forget_ref(store, "D1")
    apply_tombstones(other, kept(store, Tombstone))
    assert list(everything(other)) == list(everything(store))


def test_what_was_forgotten_elsewhere_is_not_archived_from_the_transcript(
    archive: Archive, masker: Masker, transcript: Path
) -> None:
    apply_tombstones(archive, [Tombstone("step", f"{uuid_of(4)}/0", NOW)])
    capture(archive, masker, transcript)
    texts = [line.get("text") for line in export_steps(archive)]
    assert "fix it" in texts
    assert "done, swordfish" not in texts


def test_a_fact_that_two_archives_captured_is_two_items_with_one_key(store: Archive) -> None:
    insert_item(store, item(2).replace(rule="standing", capture_key="k"))
    theirs = StoredItem(**item(3).replace(alias="D2", rule="standing", capture_key="k").as_dict())
    assert append(store, [theirs]) == 1
    assert [one.capture_key for one in kept(store, StoredItem)][-2:] == ["k", "k"]
    assert find_item(store, "D2").uuid == item(2).uuid


def test_what_a_session_was_given_back_goes_where_it_was_forgotten_elsewhere(store: Archive) -> None:
    session = session_number(store, SESSION)
    assert session is not None
    add_notes(store, session, "highlight", ["swordfish"], "2026-01-01T00:00:00.000Z")
    keep_restore(store, Restore("n", session, None, "brief", NOW, None, "swordfish"))
    apply_tombstones(store, [Tombstone("session", SESSION, NOW)])
    assert store.rows("SELECT text FROM note") == store.rows("SELECT body FROM restore") == []
