from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builders import BODIES, NOW, SESSION, answer, call, prompt, uuid_of, write_transcript
from tests.forgetting import forget_ref, forget_text
from unified_state.archive.archive import Archive
from unified_state.archive.compactions import begin_compaction, keep_summary
from unified_state.archive.sessions import touch_session
from unified_state.archive.steps import find_step
from unified_state.archive.text_columns import replace_text
from unified_state.capture.capture_transcript import Capture
from unified_state.ledger.explain_item import check_provenance, explain
from unified_state.ledger.find_sources import requote, requote_summary
from unified_state.ledger.item_table import find_item
from unified_state.ledger.record_item import Author, record_item
from unified_state.lib.text import pack
from unified_state.model.hook_event import Moment
from unified_state.model.item import DECISION
from unified_state.project.place import Place
from unified_state.project.workspace.workspace import Workspace
from unified_state.secrets.masker import Masker
from unified_state.settings import Settings
from unified_state.upkeep.forget.scan_secrets import scan

SAID = "Use SQLite for the archive"
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def decided(archive: Archive, masker: Masker, keep: Callable[..., None]) -> Archive:
    """An archive in which an agent decided D1 at the user's prompt."""
    return decide(archive, masker, keep, SAID)


def decide(archive: Archive, masker: Masker, keep: Callable[..., None], said: str) -> Archive:
    author = Author(origin="inferred", session_id=SESSION, commit="c0ffee" * 6, branch="main")
    body = {**BODIES[DECISION], "decision": said}
    record_item(archive, DECISION, body, author, now=NOW + 9000)
    command = f"unified-state decision add '{said}' --rationale x"
    keep(prompt(1, "Decide where to keep it"), answer(2, "Well."), answer(3, call("a", "Bash", command=command)))
    return archive


def faults(archive: Archive) -> list[tuple[str, str]]:
    return [(fault.path, fault.message) for fault in check_provenance(archive)]


def test_why_shows_origin_time_commit_quote_and_the_turn_around_it(decided: Archive, place: Place) -> None:
    found = explain(decided, place.repository, "d1")
    assert (found["origin"], found["created_at"], found["branch"]) == ("inferred", "2026-09-21T14:13:29.000Z", "main")
    assert (found["quote"], found["source_uuid"], found["faults"]) == (SAID, uuid_of(3), [])
    turn = found["turn"]
    assert (turn["ref"], turn["prompt"]["text"], turn["step"]["ref"]) == ("T1", "Decide where to keep it", "S3")
    assert found["validity"]["valid"]


def test_why_shows_links_in_both_directions(archive: Archive, masker: Masker, place: Place) -> None:
    for text, older in (("Push to main", None), ("Push to a branch", "D1")):
        body = {**BODIES[DECISION], DECISION: text}
        record_item(archive, DECISION, body, Author("inferred"), now=NOW, supersedes=older)
    (link,) = explain(archive, place.repository, "D2")["links"]
    assert link == {"relation": "supersedes", "ref": "D1", "isFrom": True, "status": "superseded"}
    (link,) = explain(archive, place.repository, "D1")["links"]
    assert (link["ref"], link["isFrom"]) == ("D2", False)


def test_a_changed_quote_is_found(decided: Archive) -> None:
    decided.run("UPDATE item SET quote = ?", pack("Use PostgreSQL"))
    ((ref, message),) = faults(decided)
    assert ref == "D1"
    assert message.startswith("its quote was changed")


def test_a_changed_step_is_found(decided: Archive) -> None:
    decided.run("UPDATE step SET body = ? WHERE id = 3", pack('{"command":"nothing"}'))
    assert faults(decided) == [("D1", "its quote is not in its source entry S3")]


def test_a_removed_quote_or_hash_is_found(decided: Archive) -> None:
    decided.run("UPDATE item SET quote = NULL")
    assert faults(decided) == [("D1", "either its quote or the hash of it is missing")]


def test_the_check_survives_masking_that_comes_later(
    archive: Archive, place: Place, settings: Settings, tmp_path: Path
) -> None:
    unmasked = Masker(place.key_folder, enabled=False)
    said = f"Deploy with {SECRET} always"
    body = {**BODIES[DECISION], "decision": said}
    with Archive(place.archive_path) as other:
        record_item(other, DECISION, body, Author("inferred", SESSION), now=NOW + 9000)
    command = f"unified-state decision add '{said}' --rationale x"
    path = write_transcript(tmp_path / "s.jsonl", prompt(1, "x"), answer(2, call("a", "Bash", command=command)))
    Capture(archive, unmasked, Moment(NOW)).transcript(str(path), SESSION, to_end=True)
    assert find_item(archive, "D1").quote == said
    scan(Workspace(place, settings, report=lambda _line: None), fix_at=NOW)
    quote = str(find_item(archive, "D1").quote)
    assert quote.startswith("Deploy with [MASKED github-token ")
    assert faults(archive) == []


def test_a_quote_follows_its_entry_when_that_is_masked(decided: Archive) -> None:
    step = find_step(decided, 3)
    assert step is not None
    replace_text(decided, 3, step, step.text.replace("SQLite", "[MASKED word 0badc0de]"))

    requote(decided, uuid_of(3), lambda text: text.replace("SQLite", "[MASKED word 0badc0de]"))
    assert find_item(decided, "D1").quote == "Use [MASKED word 0badc0de] for the archive"
    assert faults(decided) == []


def test_a_mask_that_reaches_over_the_end_of_a_quote_leaves_what_can_be_checked(
    decided: Archive, masker: Masker
) -> None:
    step = find_step(decided, 3)
    assert step is not None
    replace_text(decided, 3, step, step.text.replace("archive' --rationale", "[MASKED word 0badc0de]"))
    requote(decided, uuid_of(3), masker.text)
    assert "[MASKED word 0badc0de]" in str(find_item(decided, "D1").quote)
    assert faults(decided) == []


@pytest.mark.parametrize("ref", ["S3", "T1"])
def test_the_words_of_a_forgotten_step_leave_the_quote_too(decided: Archive, ref: str, place: Place) -> None:
    forget_ref(decided, ref)
    found = explain(decided, place.repository, "D1")
    assert (found["quote"], found["quote_hash"], found["faults"]) == (None, None, [])


def test_an_item_goes_whose_quote_holds_a_text_to_forget(decided: Archive) -> None:
    decided.run("UPDATE item SET body = ?", pack('{"decision":"x","rationale":"x","reversible":true}'))
    assert len(forget_text(decided, "sqlite FOR", NOW).items) == 1


def test_an_item_that_was_read_from_a_summary_is_checked_against_that(archive: Archive, masker: Masker) -> None:
    with archive.transaction():
        session = touch_session(archive, SESSION, NOW)
        compaction = begin_compaction(archive, session, NOW)
        keep_summary(archive, compaction, f"Decisions: {SAID}.")
    body = {**BODIES[DECISION], "decision": SAID}
    item = record_item(archive, DECISION, body, Author("inferred"), now=NOW)
    archive.run("UPDATE item SET compaction = ? WHERE uuid = ?", compaction.id, item.uuid)
    assert faults(archive) == []
    keep_summary(archive, compaction, "nothing")
    assert faults(archive) == [("D1", "its quote is not in summary K1")]
    requote_summary(archive, compaction.id, "nothing", masker.text)
    assert faults(archive) == []
    forget_ref(archive, "K1")
    assert (find_item(archive, "D1").quote, faults(archive)) == (None, [])
