"""Items are recorded whole, masked and durably, and take the place of older ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.builders import BODIES, NOW, SESSION, item
from tests.terminal import call_at_terminal
from unified_state.archive.archive import Archive
from unified_state.archive.sessions import session_number
from unified_state.errors import NotAtGateError, NotFoundError, UsageError
from unified_state.ledger.correct_item import close
from unified_state.ledger.decide_proposal import accept, reject
from unified_state.ledger.item_table import find_item, insert_item, link_items, list_items
from unified_state.ledger.record_item import Author, record_item, supersede
from unified_state.lib.times import new_uuid
from unified_state.model.item import CONSTRAINT, DECISION, QUESTION, LedgerItem
from unified_state.project.place import Place
from unified_state.restore.compose_restore import gather
from unified_state.secrets.masker import Masker

AUTHOR = Author(origin="user_said", session_id="s", source_uuid="u", commit="c0ffee", branch="main")
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


class Recorder:
    """Records items of one author in one archive."""

    def __init__(self, archive: Archive, masker: Masker) -> None:
        self.archive, self.masker = archive, masker

    def __call__(
        self, kind: str = DECISION, *, now: int = NOW, supersedes: str | None = None, **body: Any
    ) -> LedgerItem:
        whole = {**BODIES[kind], **body}
        return record_item(self.archive, kind, whole, AUTHOR, now=now, supersedes=supersedes)

    def resolve(self, ref: str, resolution: str = "8080") -> LedgerItem:
        return close(self.archive, ref, resolution, AUTHOR, now=NOW + 5)


@pytest.fixture
def record(archive: Archive, masker: Masker) -> Recorder:
    return Recorder(archive, masker)


def test_an_item_is_in_the_ledger_with_all_that_is_known_of_it(archive: Archive, record: Recorder) -> None:
    made = record(rationale="see src/db.py")
    assert find_item(archive, "D1") == made
    assert made.as_dict() == {
        "uuid": made.uuid,
        "alias": "D1",
        "kind": "decision",
        "body": {"decision": "Use SQLite", "rationale": "see src/db.py", "reversible": True},
        "status": "active",
        "origin": "user_said",
        "created_at": "2026-09-21T14:13:20.000Z",
        "session_id": "s",
        "source_uuid": "u",
        "commit": "c0ffee",
        "branch": "main",
        "files": ("src/db.py",),
        "changed_at": None,
        "superseded_by": None,
        "paged_out_at": None,
        "quote": "Use SQLite",
        "quote_hash": "231e7e56629e1feaedd56e732bd4c03ca33713592ec43b8432a10f17223f4775",
        "rule": None,
        "capture_key": None,
        "compaction": None,
        "file_hashes": {},
    }


def test_a_recorded_item_waits_for_the_disk(record: Recorder, archive: Archive) -> None:
    with archive.transaction(durable=False):
        archive.set_meta("a", "b")
    record(DECISION)
    assert archive.row("PRAGMA synchronous")[0] == 2  # FULL


def test_a_decision_takes_the_place_of_an_earlier_one(archive: Archive, record: Recorder) -> None:
    record()
    newer = record(supersedes="D1", decision="Use DuckDB", now=NOW + 5)
    older = find_item(archive, "D1")
    assert (older.status, older.superseded_by, older.changed_at) == (
        "superseded",
        newer.uuid,
        "2026-09-21T14:13:20.005Z",
    )
    assert archive.row("SELECT from_uuid, to_uuid, relation FROM item_link") == (newer.uuid, older.uuid, "supersedes")


@pytest.mark.parametrize(
    ("by", "message"), [("D1", "D1 cannot supersede itself"), ("D9", "no item"), ("C1", "C1 is a")]
)
def test_only_another_decision_takes_its_place(archive: Archive, record: Recorder, by: str, message: str) -> None:
    record()
    record(CONSTRAINT)
    with pytest.raises((UsageError, NotFoundError), match=message):
        supersede(archive, "D1", by, AUTHOR, now=NOW)
    assert find_item(archive, "D1").status == "active"


def test_a_program_only_proposes_to_supersede_what_the_user_decided(archive: Archive, record: Recorder) -> None:
    record()
    program = AUTHOR.replace(origin="inferred")
    newer = record_item(archive, DECISION, BODIES[DECISION], program, now=NOW, supersedes="D1")
    assert (newer.status, find_item(archive, "D1").status) == ("proposed", "active")
    with pytest.raises(NotAtGateError, match="only the user supersedes D1"):
        supersede(archive, "D1", newer.alias, program, now=NOW)
    accept(archive, [newer.uuid], AUTHOR, NOW)
    assert find_item(archive, "D1").superseded_by == newer.uuid
    record_item(archive, DECISION, BODIES[DECISION], program, now=NOW)
    newest = record_item(archive, DECISION, BODIES[DECISION], program, now=NOW, supersedes="D3")
    assert (newest.status, find_item(archive, "D3").status) == ("active", "superseded")


def test_what_is_superseded_already_cannot_be_again(archive: Archive, record: Recorder) -> None:
    record()
    record(supersedes="D1")
    with pytest.raises(UsageError, match="D1 is already superseded; supersede the current decision"):
        record(supersedes="D1")
    assert len(list_items(archive)) == 2


def test_what_is_nowhere_cannot_be_superseded_and_takes_no_number(record: Recorder) -> None:
    with pytest.raises(NotFoundError, match="there is no item D9"):
        record(supersedes="D9")
    assert record().alias == "D1"


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_text_is_refused_by_its_name(record: Recorder, text: str) -> None:
    with pytest.raises(UsageError, match="decision is empty; say it in a few words"):
        record(decision=text)
    record(QUESTION)
    with pytest.raises(UsageError, match="resolution is empty"):
        record.resolve("Q1", text)


def test_secrets_are_masked(archive: Archive, record: Recorder) -> None:
    record(decision=f"use {SECRET}")
    record(QUESTION)
    record.resolve("Q1", f"it is {SECRET}")
    assert SECRET not in str(list_items(archive))


def test_uuids_sort_by_their_age() -> None:
    made = [new_uuid(NOW + number) for number in range(50)]
    assert made == sorted(made)
    assert len({new_uuid(NOW) for _ in range(500)}) == 500


@pytest.mark.parametrize("text", ["caf\udce9.py", "half \ud83d"])
def test_text_that_is_no_utf_8_is_recorded(archive: Archive, record: Recorder, text: str) -> None:
    record(decision=text)
    assert find_item(archive, "D1").body["decision"] == text


@pytest.fixture
def proposal(archive: Archive) -> str:
    """The ref of a rule that waits for the user."""
    insert_item(archive, item(1, CONSTRAINT, status="proposed"))
    return "C1"


def told(archive: Archive, place: Place) -> list[str]:
    return [one.alias for one in gather(archive, place, session_number(archive, SESSION), "compact", NOW).items]


def test_an_accepted_proposal_is_a_fact_and_given_back(archive: Archive, place: Place, proposal: str) -> None:
    assert told(archive, place) == []
    call_at_terminal(accept, archive.path, [proposal], AUTHOR, NOW)
    accepted = find_item(archive, proposal)
    assert (accepted.status, accepted.origin) == ("active", "user_said")
    assert told(archive, place) == [proposal]


def test_a_dismissed_proposal_is_none(archive: Archive, place: Place, proposal: str) -> None:
    call_at_terminal(reject, archive.path, [proposal], AUTHOR, NOW)
    assert told(archive, place) == []
    assert find_item(archive, proposal).status == "dismissed"


@pytest.mark.parametrize("decide", [accept, reject])
def test_only_a_proposal_can_be_decided_on(archive: Archive, proposal: str, decide: Callable[..., object]) -> None:
    call_at_terminal(reject, archive.path, [proposal], AUTHOR, NOW)
    with pytest.raises(UsageError, match="C1 is dismissed, not proposed"):
        decide(archive, [proposal], AUTHOR, NOW)
    with pytest.raises(NotFoundError):
        decide(archive, ["C7"], AUTHOR, NOW)


def test_an_accepted_change_takes_the_place_of_what_it_changes(archive: Archive) -> None:
    older, newer = item(1, CONSTRAINT), item(2, CONSTRAINT, status="proposed")
    for one in (older, newer):
        insert_item(archive, one)
    link_items(archive, newer, "changes", older, newer.created_at)
    call_at_terminal(accept, archive.path, ["C2"], AUTHOR, NOW)
    assert (find_item(archive, "C1").status, find_item(archive, "C1").superseded_by) == ("superseded", newer.uuid)
