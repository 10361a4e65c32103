from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.builders import item
from tests.processes import run_at_once
from unified_state.errors import NewerVersionError, StorageError
from unified_state.ledger.rules.short_item import short_form
from unified_state.lib.files import FileLock
from unified_state.lib.record import disk_value
from unified_state.model.item import Decision
from unified_state.model.session_state import STATE_VERSION, GitState, State
from unified_state.state_file.state_file import StateContent, StateFile, written_state_files

NESTED = b'{"version": "3.0.0", "a": ' + b"[" * 100 + b"]" * 100 + b"}"

DAMAGED = [b"", b"{", b"\xff\xfe", b"[]", b"5", b"{}", b'{"version": "x"}', b"[" * 100_000, NESTED]

STATE = State(
    version=STATE_VERSION, timestamp="2026-01-01T00:00:00.000Z", trigger="manual", git=GitState(branch="main")
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    return tmp_path / ".claude" / "unified-session-state.json"


@pytest.fixture
def state_file(path: Path, tmp_path: Path) -> StateFile:
    return StateFile(str(path), str(tmp_path / "data" / "digest"), seconds=0.02)


def write(state_file: StateFile, state: State = STATE) -> StateContent:
    """Write the state; what the file held before."""
    before: list[StateContent] = []

    def change(content: StateContent) -> State:
        before.append(content)
        return state

    assert state_file.update(change) == state
    return before[0]


def test_without_a_file_there_is_no_state(state_file: StateFile) -> None:
    assert state_file.load() == StateContent(json=None, is_ours=True)


def test_what_is_written_is_read_again_as_ours(state_file: StateFile) -> None:
    write(state_file)
    assert state_file.load() == StateContent(json=disk_value(STATE), is_ours=True)


def test_the_file_is_json_with_one_entry_a_line(state_file: StateFile, path: Path) -> None:
    decisions = tuple(entry for entry in (short_form(item(1)), short_form(item(2))) if isinstance(entry, Decision))
    state = STATE.replace(decisions=decisions)
    write(state_file, state)
    text = path.read_text(encoding="utf-8")
    assert json.loads(text) == disk_value(state)
    assert [line[:15] for line in text.splitlines() if '"D' in line] == ['    {"id":"D1",', '    {"id":"D2",']
    assert '  "git": {\n    "branch": "main",\n' in text


def test_the_file_is_private(state_file: StateFile, path: Path) -> None:
    write(state_file)
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_file_is_text_whatever_it_says(state_file: StateFile, path: Path) -> None:
    write(state_file, STATE.replace(repository="half \ud83d, whole \U0001f600"))
    assert json.loads(path.read_bytes().decode())["repository"] == "half \ufffd, whole \U0001f600"


def test_a_file_that_says_the_same_already_is_not_written_again(state_file: StateFile, path: Path) -> None:
    write(state_file)
    before = path.stat().st_ino
    write(state_file)
    assert path.stat().st_ino == before


def test_a_file_that_somebody_else_changed_is_not_ours(state_file: StateFile, path: Path) -> None:
    write(state_file)
    path.write_text(path.read_text().replace("main", "other"))
    content = state_file.load()
    assert content.json is not None
    assert (content.is_ours, content.json["git"]["branch"]) == (False, "other")


def test_a_file_of_which_we_know_nothing_is_not_ours(state_file: StateFile, path: Path) -> None:
    path.parent.mkdir()
    path.write_text(json.dumps({"version": "2.0.0", "sd": {"id": "SD-1"}}))
    assert state_file.load() == StateContent(json={"version": STATE_VERSION, "workItem": {"id": "SD-1"}}, is_ours=False)


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_file_is_set_aside_whole_before_it_is_written_anew(
    state_file: StateFile, path: Path, content: bytes
) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    found = write(state_file)
    aside = path.parent / "unified-session-state.damaged-1.json"
    assert (found.json, found.is_ours, found.set_aside) == (None, False, str(aside))
    assert aside.read_bytes() == content
    assert state_file.load().json == disk_value(STATE)


def test_each_damaged_file_has_a_name_of_its_own(state_file: StateFile, path: Path) -> None:
    path.parent.mkdir()
    for _ in range(2):
        path.write_bytes(b"{")
        write(state_file)
    assert sorted(file.name for file in path.parent.glob("*.damaged-*")) == [
        "unified-session-state.damaged-1.json",
        "unified-session-state.damaged-2.json",
    ]


def test_a_file_of_a_newer_version_is_refused_and_left_alone(state_file: StateFile, path: Path) -> None:
    path.parent.mkdir()
    path.write_text('{"version": "4.0.0"}')
    with pytest.raises(NewerVersionError):
        write(state_file)
    assert path.read_text() == '{"version": "4.0.0"}'


def test_a_change_that_fails_leaves_the_file_alone(state_file: StateFile, path: Path) -> None:
    write(state_file)
    before = path.read_bytes()

    def fail(_content: StateContent) -> State:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        state_file.update(fail)
    assert path.read_bytes() == before


def test_a_file_that_another_process_is_writing_is_waited_for_and_then_an_error(
    state_file: StateFile, path: Path
) -> None:
    with (
        FileLock(str(path.parent / "unified-session-state.lock"), 0),
        pytest.raises(StorageError, match="stayed locked by another process"),
    ):
        write(state_file)


def test_a_folder_in_the_way_is_an_error_that_names_it(state_file: StateFile, path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(StorageError, match=f"{path} cannot be read: it is not a regular file"):
        state_file.load()


def test_all_files_that_were_ever_written_are_known_by_their_digests(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    paths = [tmp_path / "a" / "state.json", tmp_path / os.fsdecode(b"caf\xe9 \xc3\xa9") / "state.json"]
    for number, path in enumerate(paths):
        write(StateFile(str(path), str(tmp_path / "data" / f"state-{number}.sha256")))
    (tmp_path / "data" / "archive.db").touch()
    assert written_state_files(str(tmp_path / "data")) == list(map(str, paths))


COUNT = """
# go
from unified_state.model.session_state import State
from unified_state.state_file.state_file import StateFile
def change(content):
    count = (content.json or {}).get("repository", "0")
    return State(version="3.0.0", timestamp="", trigger="manual", repository=str(int(count) + 1))
for _ in range(10):
    StateFile(sys.argv[1], sys.argv[2], seconds=60).update(change)
"""


def test_no_change_of_several_processes_is_lost(path: Path, tmp_path: Path) -> None:
    run_at_once(COUNT, [[str(path), str(tmp_path / "data" / "digest")]] * 4)
    assert json.loads(path.read_text())["repository"] == "40"
