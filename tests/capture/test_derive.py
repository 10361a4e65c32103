"""Steps that the prompt's hook archived are noted by the next one, as if it had archived them itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from sqlite3 import DatabaseError

import pytest

from tests.builders import NOW, SESSION, Entry, answer, append, call, prompt, result
from unified_state.archive.archive import Archive
from unified_state.archive.sessions import session_number
from unified_state.archive.steps import queued_steps
from unified_state.capture.capture_transcript import Capture
from unified_state.capture.derive import derive
from unified_state.ledger.item_table import list_items
from unified_state.model.hook_event import Moment
from unified_state.model.item import EVIDENCE
from unified_state.secrets.masker import Masker

BUG = "a bug of a rule"
FORK = "f0000000-0000-4000-8000-00000000cafe"


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    return tmp_path / f"{SESSION}.jsonl"


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Archive]:
    with Archive(str(tmp_path / "other" / "archive.db")) as archive:
        yield archive


def entries(first: int) -> list[Entry]:
    return [
        prompt(first, f"Rename parse_{first}."),
        answer(
            first + 1, call(f"t{first}", "Edit", file_path="a.py", old_string=f"old_{first}", new_string="new_name")
        ),
        result(first + 2, f"t{first}", "updated"),
        answer(first + 3, call(f"u{first}", "Bash", command="make test")),
        result(first + 4, f"u{first}", f"Error: {first} of them failed", is_error=True),
        answer(first + 5, call(f"r{first}", "Read", file_path=f"f{first}.py")),
        result(first + 6, f"r{first}", "nothing"),
    ]


def capture(archive: Archive, masker: Masker, path: Path, *, postpones: bool = False, session: str = SESSION) -> None:
    Capture(archive, masker, Moment(NOW), postpones=postpones).session(str(path), session)


def errors(archive: Archive) -> list[str]:
    """The errors that were captured, in order."""
    return [str(item.body["content"]) for item in list_items(archive, EVIDENCE)]


def number(archive: Archive, session: str = SESSION) -> int:
    found = session_number(archive, session)
    assert found is not None
    return found


def test_what_a_prompts_hook_archived_is_noted_by_the_next_hook(
    archive: Archive, other: Archive, masker: Masker, transcript: Path
) -> None:
    append(transcript, *entries(1))
    capture(archive, masker, transcript, postpones=True)
    assert errors(archive) == []
    append(transcript, *entries(11))
    capture(archive, masker, transcript)
    capture(other, masker, transcript)
    assert errors(archive) == errors(other)
    assert [text.split()[1] for text in errors(archive)] == ["1", "11"]


def test_steps_of_a_transcript_are_derived_for_the_session_that_holds_it(
    archive: Archive, masker: Masker, transcript: Path
) -> None:
    append(transcript, *entries(1))
    capture(archive, masker, transcript, postpones=True)
    append(transcript, *entries(11))
    Capture(archive, masker, Moment(NOW)).transcript(str(transcript), FORK)
    assert queued_steps(archive, number(archive)) == []
    assert [text.split()[1] for text in errors(archive)] == ["1", "11"]


def test_a_step_that_a_rule_fails_on_holds_up_no_other_step_and_no_later_hook(
    archive: Archive, masker: Masker, transcript: Path
) -> None:
    def head() -> tuple[str | None, str | None]:
        raise RuntimeError(BUG)  # what records an error asks for HEAD

    reports: list[str] = []
    append(transcript, *entries(1))
    capture(archive, masker, transcript, postpones=True)
    append(transcript, *entries(11))
    at = max(archive.column("SELECT at FROM step"))
    Capture(archive, masker, Moment(at, head), report=reports.append).session(str(transcript), SESSION)
    failed = archive.column("SELECT id FROM step WHERE is_error")
    assert reports == [f"nothing could be derived from S{step}: RuntimeError: {BUG}" for step in failed]
    assert queued_steps(archive, number(archive)) == []
    assert errors(archive) == []


def test_an_archive_that_cannot_be_written_keeps_the_queue(archive: Archive, masker: Masker, transcript: Path) -> None:
    append(transcript, *entries(1))
    capture(archive, masker, transcript, postpones=True)
    queue = queued_steps(archive, number(archive))
    archive.execute("PRAGMA query_only = 1")
    with pytest.raises(DatabaseError):
        derive(archive, number(archive), Moment(NOW), report=pytest.fail)
    assert queued_steps(archive, number(archive)) == queue
