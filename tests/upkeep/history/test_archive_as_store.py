"""The archive that hooks write, as a store of history."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders import (
    NOW,
    SESSION,
    answer,
    append,
    boundary,
    call,
    item,
    prompt,
    result,
    summary,
    uuid_of,
    write_transcript,
)
from unified_state.archive.archive import Archive
from unified_state.archive.compactions import Restore, keep_restore
from unified_state.archive.export_steps import export_steps
from unified_state.archive.session_work import add_notes
from unified_state.archive.sessions import session_number
from unified_state.capture.capture_transcript import Capture
from unified_state.ledger.item_table import find_item, insert_item
from unified_state.model.history_records import StoredCompaction, StoredItem, StoredSession, StoredStep, Tombstone
from unified_state.model.hook_event import Moment
from unified_state.secrets.masker import Masker
from unified_state.upkeep.forget.forget_refs import forget_ref, forget_session, forget_text
from unified_state.upkeep.history.archive_store import SqliteStore, everything

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
def store(archive: Archive, masker: Masker, transcript: Path) -> SqliteStore:
    """The archive of a session that a hook kept."""
    capture(archive, masker, transcript)
    insert_item(archive, item(1, origin="user_said"))
    return SqliteStore(archive.path, archive=archive)


@pytest.fixture
def other(tmp_path: Path) -> SqliteStore:
    """A new archive elsewhere."""
    return SqliteStore(str(tmp_path / "other" / "archive.db"))


def test_another_archive_that_takes_it_holds_the_same(store: SqliteStore, other: SqliteStore) -> None:
    other.append(everything(store))
    assert list(everything(other)) == list(everything(store))


def test_an_archive_that_took_it_does_not_archive_the_transcript_twice(
    store: SqliteStore, other: SqliteStore, masker: Masker, transcript: Path
) -> None:
    other.append(everything(store))
    before = list(everything(other))
    with Archive(str(Path(transcript).parents[1] / "other" / "archive.db")) as archive:
        capture(archive, masker, transcript)
    assert list(everything(other)) == before


def test_the_turns_of_a_transcript_that_goes_on_follow_what_was_taken(
    store: SqliteStore, other: SqliteStore, masker: Masker, transcript: Path
) -> None:
    other.append(everything(store))
    append(transcript, answer(8, "on it"))
    with Archive(str(Path(transcript).parents[1] / "other" / "archive.db")) as archive:
        capture(archive, masker, transcript)
    steps = [step for _, step in other.steps(SESSION)]
    assert [(step.text, step.starts_turn) for step in steps[-2:]] == [("go on", True), ("on it", False)]


def test_every_way_of_forgetting_leaves_a_tombstone(archive: Archive, store: SqliteStore) -> None:
    forget_text(archive, "swordfish", NOW)
    steps = [stone.key for stone in store.tombstones() if stone.what == "step"]
    assert steps == [f"{uuid_of(4)}/0"]
    forget_ref(archive, "D1", "user_said")
    forget_ref(archive, "K1", "user_said")
    assert {stone.what for stone in store.tombstones()} == {"step", "item", "compaction"}
    forget_session(archive, SESSION, NOW, "user_said")
    assert Tombstone("session", SESSION, NOW) in store.tombstones()


def test_what_was_forgotten_here_is_forgotten_where_it_was_taken_to(
    archive: Archive, store: SqliteStore, other: SqliteStore
) -> None:
    other.append(everything(store))
    forget_text(archive, "swordfish", NOW)
    forget_ref(archive, "D1", "user_said")
    other.append(store.tombstones())
    assert list(everything(other)) == list(everything(store))


def test_what_was_forgotten_elsewhere_is_not_archived_from_the_transcript(
    archive: Archive, masker: Masker, transcript: Path
) -> None:
    SqliteStore(archive.path, archive=archive).append([Tombstone("step", f"{uuid_of(4)}/0", NOW)])
    capture(archive, masker, transcript)
    texts = [line.get("text") for line in export_steps(archive)]
    assert "fix it" in texts
    assert "done, swordfish" not in texts


def test_a_fact_that_two_archives_captured_is_two_items_with_one_key(archive: Archive, store: SqliteStore) -> None:
    insert_item(archive, item(2).replace(rule="standing", capture_key="k"))
    theirs = StoredItem(**item(3).replace(alias="D2", rule="standing", capture_key="k").as_dict())
    assert store.append([theirs]) == 1
    assert [found.capture_key for found in store.find_items("D2")] == ["k", "k"]
    assert find_item(archive, "D2").uuid == item(2).uuid


def test_what_came_with_a_step_goes_with_it(archive: Archive, store: SqliteStore) -> None:
    step = StoredStep(uuid_of(90), 0, "prompt", NOW, "plain", session_id=SESSION, unknown={"note": "swordfish"})
    store.append([step])
    forget_text(archive, "plain", NOW)
    assert archive.rows("SELECT * FROM carried") == []


def test_what_came_with_a_session_and_its_compactions_goes_with_it(archive: Archive, store: SqliteStore) -> None:
    came = {"title": "salmon"}
    store.append([StoredSession("theirs", unknown=came), StoredCompaction("theirs", uuid_of(91), NOW, unknown=came)])
    forget_session(archive, "theirs", NOW)
    assert archive.rows("SELECT * FROM carried") == []
    assert "salmon" not in repr(list(everything(store)))


def test_what_a_session_was_given_back_goes_where_it_was_forgotten_elsewhere(
    archive: Archive, store: SqliteStore
) -> None:
    session = session_number(archive, SESSION)
    assert session is not None
    add_notes(archive, session, "highlight", ["swordfish"], "2026-01-01T00:00:00.000Z")
    keep_restore(archive, Restore("n", session, None, "brief", NOW, None, "swordfish"))
    store.append([Tombstone("session", SESSION, NOW)])
    assert archive.rows("SELECT text FROM note") == archive.rows("SELECT body FROM restore") == []


def test_a_summary_that_is_forgotten_elsewhere_takes_the_quotes_of_its_items_along(
    archive: Archive, store: SqliteStore, tmp_path: Path
) -> None:
    archive.run("UPDATE item SET compaction = 1, quote = 'so far', quote_hash = 'h' WHERE alias = 'D1'")
    with Archive(str(tmp_path / "other.db")) as elsewhere:
        for record in everything(store):  # each on its own: batches are cut anywhere
            SqliteStore(elsewhere.path, archive=elsewhere).append([record])
        forget_ref(elsewhere, "K1")
        assert find_item(elsewhere, "D1").quote is None


def test_a_step_that_is_forgotten_elsewhere_takes_the_quotes_of_its_items_along(
    archive: Archive, store: SqliteStore
) -> None:
    archive.run("UPDATE item SET source_uuid = ?, quote = 'swordfish', quote_hash = 'h'", uuid_of(4))
    store.append([Tombstone("step", f"{uuid_of(4)}/0", NOW)])
    assert (find_item(archive, "D1").quote, find_item(archive, "D1").quote_hash) == (None, None)
