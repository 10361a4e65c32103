from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.processes import run_at_once
from unified_state.project.find_repository import ID_FILE, read_identity
from unified_state.project.identity import ensure_identity

ENSURE = """
# go
from unified_state.project.identity import ensure_identity
print(ensure_identity(sys.argv[1]).id)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "common"
    path.mkdir()
    return path


def test_a_repository_is_given_an_id_once(folder: Path) -> None:
    first = ensure_identity(str(folder))
    assert first == ensure_identity(str(folder)) == read_identity(str(folder))
    assert first.id.isalnum()
    assert first.place == str(folder)


def test_a_moved_folder_keeps_its_id(folder: Path, tmp_path: Path) -> None:
    before = ensure_identity(str(folder))
    folder.rename(tmp_path / "moved")
    after = ensure_identity(str(tmp_path / "moved"))
    assert (after.id, after.place, after.copied_from) == (before.id, str(tmp_path / "moved"), None)


def test_an_identity_whose_place_has_a_nul_keeps_its_id(folder: Path) -> None:
    before = ensure_identity(str(folder))
    (folder / ID_FILE).write_text(json.dumps({"id": before.id, "place": f"{folder}\0x"}), encoding="utf-8")
    after = ensure_identity(str(folder))
    assert (after.id, after.place, after.copied_from) == (before.id, str(folder), None)


def test_a_copied_folder_is_a_repository_of_its_own_and_says_so_once(folder: Path, tmp_path: Path) -> None:
    original = ensure_identity(str(folder))
    shutil.copytree(folder, tmp_path / "copy")
    copy = ensure_identity(str(tmp_path / "copy"))
    assert copy.id != original.id
    assert copy.copied_from == str(folder)
    assert ensure_identity(str(tmp_path / "copy")) == copy.replace(copied_from=None)
    assert ensure_identity(str(folder)) == original


def test_eight_processes_agree_on_a_new_id(folder: Path) -> None:
    assert len(set(run_at_once(ENSURE, [[str(folder)]] * 8))) == 1


def test_eight_processes_agree_on_the_id_of_a_copy(folder: Path, tmp_path: Path) -> None:
    ensure_identity(str(folder))
    shutil.copytree(folder, tmp_path / "copy")
    assert len(set(run_at_once(ENSURE, [[str(tmp_path / "copy")]] * 8))) == 1


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
    new = ensure_identity(str(folder))
    assert read_identity(str(folder)) == new.replace(notice=None)
    assert (folder / f"{ID_FILE}.damaged-1").read_text() == content
    assert f"{ID_FILE} was damaged; this folder has a new archive" in str(new.notice)


def test_where_nothing_can_be_written_the_id_follows_from_the_path(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    below = str(tmp_path / "file" / "below")
    first = ensure_identity(below)
    assert first == ensure_identity(below)
    assert first.id != ensure_identity(str(tmp_path / "file" / "elsewhere")).id


def test_a_folder_whose_name_is_no_utf_8_keeps_its_id_and_its_file(tmp_path: Path) -> None:
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9")
    first = ensure_identity(folder)
    before = os.stat(os.path.join(folder, ID_FILE)).st_ino
    assert ensure_identity(folder) == first
    assert os.stat(os.path.join(folder, ID_FILE)).st_ino == before
