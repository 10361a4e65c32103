from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.processes import run_at_once
from unified_state.project.find_repository import ID_FILE, Identity, Repository, read_identity
from unified_state.project.identity import identify

ENSURE = """
# go
from unified_state.project.find_repository import Repository
from unified_state.project.identity import identify
print(identify(Repository(sys.argv[1], common_dir=sys.argv[1]), sys.argv[1], create=True)[0].id)
"""


def ensured(folder: Path | str) -> tuple[Identity, str | None]:
    """The identity of the repository whose git dir is a folder, and the notice."""
    identity, notice = identify(Repository(str(folder), common_dir=str(folder)), str(folder), create=True)
    assert identity is not None
    return identity, notice


def ensure_identity(folder: Path | str) -> Identity:
    return ensured(folder)[0]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "common"
    path.mkdir()
    return path


def test_a_repository_is_given_an_id_once(folder: Path) -> None:
    first = ensure_identity(folder)
    assert first == ensure_identity(folder) == read_identity(str(folder))
    assert first.id.isalnum()
    assert first.place == str(folder)


def test_a_moved_folder_keeps_its_id(folder: Path, tmp_path: Path) -> None:
    before = ensure_identity(folder)
    folder.rename(tmp_path / "moved")
    after = ensure_identity(tmp_path / "moved")
    assert (after.id, after.place) == (before.id, str(tmp_path / "moved"))


def test_an_identity_whose_place_has_a_nul_keeps_its_id(folder: Path) -> None:
    before = ensure_identity(folder)
    (folder / ID_FILE).write_text(json.dumps({"id": before.id, "place": f"{folder}\0x"}), encoding="utf-8")
    after = ensure_identity(folder)
    assert (after.id, after.place) == (before.id, str(folder))


def test_a_copied_folder_is_a_repository_of_its_own(folder: Path, tmp_path: Path) -> None:
    original = ensure_identity(folder)
    shutil.copytree(folder, tmp_path / "copy")
    copy = ensure_identity(tmp_path / "copy")
    assert copy.id != original.id
    assert ensure_identity(tmp_path / "copy") == copy
    assert ensure_identity(folder) == original


def test_eight_processes_agree_on_a_new_id(folder: Path) -> None:
    assert len(set(run_at_once(ENSURE, [[str(folder)]] * 8))) == 1


def test_eight_processes_agree_where_the_file_is_damaged(folder: Path) -> None:
    (folder / ID_FILE).write_bytes(b"")
    assert len(set(run_at_once(ENSURE, [[str(folder)]] * 8))) == 1


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "5",
        "{}",
        '{"id": "abc"}',
        '{"id": 5, "place": "/"}',
        '{"id": "../../elsewhere", "place": "/"}',
        '{"id": "", "place": "/"}',
        '{"id": "' + "a" * 65 + '", "place": "/"}',
    ],
)
def test_a_file_that_names_no_id_is_set_aside_and_replaced(folder: Path, content: str) -> None:
    (folder / ID_FILE).write_text(content)
    assert read_identity(str(folder)) is None
    new, notice = ensured(folder)
    assert read_identity(str(folder)) == new
    assert (folder / f"{ID_FILE}.damaged-1").read_text() == content
    assert f"{ID_FILE} was damaged; this folder has a new archive" in str(notice)


def test_where_nothing_can_be_written_the_id_follows_from_the_path(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    below = str(tmp_path / "file" / "below")
    first = ensure_identity(below)
    assert first == ensure_identity(below)
    assert first.id != ensure_identity(tmp_path / "file" / "elsewhere").id


def test_a_folder_whose_name_is_no_utf_8_keeps_its_id_and_its_file(tmp_path: Path) -> None:
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9")
    first = ensure_identity(folder)
    before = os.stat(os.path.join(folder, ID_FILE)).st_ino
    assert ensure_identity(folder) == first
    assert os.stat(os.path.join(folder, ID_FILE)).st_ino == before
