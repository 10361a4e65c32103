from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.builders import NOW, SESSION, Entry, answer, append, called, prompt, uuid_of, write_transcript
from tests.forgetting import forget_ref, forget_session, forget_text
from unified_state.archive.archive import Archive
from unified_state.archive.sessions import session_number, touch_session
from unified_state.capture.capture_transcript import Capture
from unified_state.model.hook_event import Moment
from unified_state.model.known import WorkingFile
from unified_state.restore.compose_restore import read_files
from unified_state.secrets.masker import Masker

ROOT = "/home/ada/shop"
FORK = "f0000000-0000-4000-8000-00000000cafe"

Keep = Callable[..., tuple[WorkingFile, ...]]


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    return tmp_path / "projects" / f"{SESSION}.jsonl"


@pytest.fixture
def keep(archive: Archive, masker: Masker, transcript: Path) -> Keep:
    """Archive entries at the end of the session's transcript; its working set after that."""

    def go_on(*entries: Entry, session: str = SESSION, path: Path = transcript) -> tuple[WorkingFile, ...]:
        path.parent.mkdir(parents=True, exist_ok=True)
        append(path, *entries)
        Capture(archive, masker, Moment(NOW)).session(str(path), session)
        return working_set(archive, session)

    return go_on


def working_set(archive: Archive, session: str = SESSION) -> tuple[WorkingFile, ...]:
    number = session_number(archive, session)
    assert number is not None
    return read_files(archive, number, archive.value("SELECT root FROM session WHERE id = ?", number) or "")


used = partial(called, cwd=ROOT)


def edited(number: int, name: str, *words: str) -> list[Entry]:
    return used(number, "Edit", "updated", file_path=f"{ROOT}/{name}", old_string="x", new_string=" ".join(words))


def files(found: tuple[WorkingFile, ...]) -> dict[str, list[str]]:
    """The identifiers by file."""
    return {file.path: sorted(file.words) for file in found}


def test_what_was_edited_is_kept_by_file(keep: Keep) -> None:
    found = keep(
        prompt(1, "fix #12 in src/a.py", cwd=ROOT),
        *edited(2, "src/a.py", "parse_all", "parse_one"),
        *used(4, "Bash", "FAILED tests/test_a.py::test_b\n1 failed", is_error=True, command="pytest -q"),
        answer(6, "see parse_all in src/b.py", cwd=ROOT),
    )
    assert files(found) == {"src/a.py": ["parse_all", "parse_one"]}


def test_a_result_finds_its_call_in_an_earlier_chunk(keep: Keep) -> None:
    before, after = used(1, "Read", "def parse_all():", file_path=f"{ROOT}/src/a.py")
    assert files(keep(before)) == {"src/a.py": []}
    assert files(keep(after)) == {"src/a.py": ["parse_all"]}


def test_what_was_edited_stands_before_what_was_read(keep: Keep) -> None:
    found = keep(*used(1, "Read", "x", file_path=f"{ROOT}/read.py"), *edited(3, "edited.py", "x"))
    assert [(file.path, file.is_used) for file in found] == [("edited.py", True), ("read.py", True)]


def test_a_file_that_a_command_removed_is_gone_until_it_is_written_again(keep: Keep) -> None:
    def gone(found: tuple[WorkingFile, ...]) -> dict[str, str]:
        return {file.path: file.gone for file in found}

    removed = used(3, "Bash", "", command="mv a.py b.py; rm *.log")
    assert gone(keep(*edited(1, "a.py", "parse_all"), *removed))["a.py"] == "moved to b.py"
    assert gone(keep(*edited(5, "a.py", "parse_all")))["a.py"] == ""
    missing = used(7, "Read", "File does not exist.", is_error=True, file_path=f"{ROOT}/a.py")
    assert gone(keep(*missing))["a.py"] == "not found"


@pytest.mark.parametrize(
    ("command", "gone"), [("rm -r old", "deleted"), ("rm -rf ./old/", "deleted"), ("mv old older", "moved to older")]
)
def test_the_files_in_a_folder_that_a_command_removed_or_moved_are_gone(keep: Keep, command: str, gone: str) -> None:
    keep(prompt(1, "go", cwd=ROOT), *edited(2, "old/a.py", "parse_all"), *edited(4, "older.py", "parse_one"))
    found = keep(*edited(6, "old/in/b.py", "parse_two"), *used(8, "Bash", "", command=command))
    assert {file.path: file.gone for file in found} == {"old/a.py": gone, "old/in/b.py": gone, "older.py": ""}


def test_a_file_that_was_read_as_a_whole_has_no_other_names(keep: Keep) -> None:
    keep(prompt(1, "go", cwd=ROOT), *edited(2, "a.py", "my_first", "my_second"))
    keep(*used(4, "Read", "my_third = 1", file_path=f"{ROOT}/a.py", offset=7))
    assert set(files(keep())["a.py"]) == {"my_first", "my_second", "my_third"}
    assert set(files(keep(*used(6, "Read", "my_third = my_first", file_path=f"{ROOT}/a.py")))["a.py"]) == {
        "my_first",
        "my_third",
    }


def test_what_an_edit_replaces_everywhere_is_renamed_inside_longer_names(keep: Keep) -> None:
    everywhere: dict[str, Any] = {"file_path": f"{ROOT}/a.py", "old_string": "UsedAt", "new_string": "UsedTime"}
    everywhere["replace_all"] = True
    keep(prompt(1, "go", cwd=ROOT), *used(2, "Read", "testUsedAtFirst lastUsedAt", file_path=f"{ROOT}/a.py"))
    assert files(keep(*used(4, "Edit", "refused", is_error=True, **everywhere)))["a.py"] == [
        "lastUsedAt",
        "testUsedAtFirst",
    ]
    assert files(keep(*used(6, "Edit", "updated", **everywhere)))["a.py"] == [
        "UsedTime",
        "lastUsedTime",
        "testUsedTimeFirst",
    ]


def test_of_a_subagent_only_what_it_did_counts(keep: Keep, transcript: Path) -> None:
    mine = {"isSidechain": True, "agentId": "a1"}
    entries = [
        prompt(20, "look at asked_name", **mine),
        *({**entry, **mine} for entry in edited(21, "src/a.py", "edited_name")),
        *({**entry, **mine} for entry in used(23, "Read", "read_name = 1", file_path=f"{ROOT}/src/b.py")),
        answer(25, "see said_name", **mine),
    ]
    write_transcript(transcript.with_suffix("") / "subagents" / "agent-a1.jsonl", *entries)
    found = keep(prompt(1, "go", cwd=ROOT))
    assert files(found) == {"src/a.py": ["edited_name"], "src/b.py": []}


def test_reading_a_transcript_anew_counts_nothing_twice(archive: Archive, keep: Keep, transcript: Path) -> None:
    keep(prompt(1, "fix it", cwd=ROOT), *edited(2, "src/a.py", "parse_all"))
    before = working_set(archive)
    content = transcript.read_bytes()
    transcript.unlink()
    transcript.write_bytes(content)
    keep()
    assert working_set(archive) == before


def test_however_many_chunks_it_was_archived_in_the_working_set_is_the_same(
    archive: Archive, keep: Keep, tmp_path: Path
) -> None:
    entries = [entry for number in range(0, 40, 2) for entry in edited(number, f"f{number % 6}.py", f"name_{number}")]
    for entry in entries:
        keep(entry)
    piecemeal = working_set(archive)
    others = [{**entry, "uuid": uuid_of(1000 + number), "sessionId": "b"} for number, entry in enumerate(entries)]
    at_once = keep(*others, session="b", path=tmp_path / "b.jsonl")
    assert [file.path for file in at_once] == [file.path for file in piecemeal]
    assert files(at_once) == files(piecemeal)


def test_paths_are_told_from_the_worktree_where_it_is_known(archive: Archive, keep: Keep) -> None:
    touch_session(archive, SESSION, NOW, worktree=ROOT)
    inner = [{**entry, "cwd": f"{ROOT}/deep/inside"} for entry in edited(1, "src/a.py", "parse_all")]
    assert files(keep(*inner)) == {"src/a.py": ["parse_all"]}


def fork_of(transcript: Path) -> Path:
    """The transcript of a fork: the entries with their uuids, under another session."""
    path = transcript.with_name(f"{FORK}.jsonl")
    path.write_bytes(transcript.read_bytes().replace(SESSION.encode(), FORK.encode()))
    return path


def test_a_fork_has_its_parent_s_working_set_and_goes_its_own_way(
    archive: Archive, keep: Keep, transcript: Path
) -> None:
    keep(prompt(1, "fix it", cwd=ROOT), *edited(2, "src/a.py", "parse_all"))
    parent = working_set(archive)
    fork = fork_of(transcript)
    assert keep(session=FORK, path=fork) == parent
    keep(*edited(10, "src/b.py", "parse_one"), session=FORK, path=fork)
    assert working_set(archive) == parent
    assert set(files(working_set(archive, FORK))) == {"src/a.py", "src/b.py"}


def test_a_fork_does_not_bring_a_forgotten_turn_back(archive: Archive, keep: Keep, transcript: Path) -> None:
    keep(prompt(1, "fix gone_name", cwd=ROOT), *edited(2, "src/gone.py", "gone_name"))
    keep(prompt(4, "and"), *edited(5, "stay.py", "x"))
    forget_ref(archive, "T1")
    assert files(working_set(archive)) == {"stay.py": []}
    fork = keep(session=FORK, path=fork_of(transcript))
    assert files(fork) == {"stay.py": []}


@pytest.mark.parametrize("way", ["turn", "step", "text", "session"])
def test_what_is_forgotten_leaves_nothing_in_any_working_set(
    archive: Archive, keep: Keep, transcript: Path, way: str
) -> None:
    keep(prompt(1, "at first", cwd=ROOT), *edited(2, "stay.py", "x"))
    keep(prompt(4, "then", cwd=ROOT), *edited(5, "gone_name.py", "gone_name"))
    keep(session=FORK, path=fork_of(transcript))
    match way:
        case "turn":
            forget_ref(archive, "T2")
        case "step":
            numbers = archive.rows("SELECT id FROM step WHERE tool_use_id = 'toolu_5'")
            for (number,) in numbers:
                forget_ref(archive, f"S{number}")
        case "text":
            forget_text(archive, "gone_name", NOW)
        case "session":
            forget_session(archive, SESSION, NOW)
            forget_session(archive, FORK, NOW)
    left: dict[str, list[str]] = {} if way == "session" else {"stay.py": []}
    assert files(working_set(archive)) == files(working_set(archive, FORK)) == left
