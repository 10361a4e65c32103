"""The scratch is used only while it is ours alone: where it lies, others may write too."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from unified_state.memory.journal.scratch_database import find_scratch, make_scratch, remove_scratch


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """The folder of a journal."""
    (tmp_path / "p").mkdir()
    return str(tmp_path / "p")


def test_it_is_found_again_and_nobody_else_can_look_into_it(folder: str) -> None:
    path = make_scratch(folder, 5)
    assert find_scratch(folder, 5) == path
    assert os.stat(os.path.dirname(path)).st_mode & 0o777 == 0o700
    assert os.path.dirname(os.path.dirname(path)) == os.environ["TMPDIR"]
    assert make_scratch(folder, 5) != path
    assert not os.path.exists(path)


def test_that_of_another_version_is_not_used(folder: str) -> None:
    make_scratch(folder, 5)
    assert find_scratch(folder, 6) is None


@pytest.mark.parametrize("what", ["folder", "file"])
def test_one_that_others_may_read_or_write_is_not_used(folder: str, what: str) -> None:
    path = make_scratch(folder, 5)
    os.chmod(os.path.dirname(path) if what == "folder" else path, 0o777)
    assert find_scratch(folder, 5) is None


def test_a_link_in_its_place_is_neither_used_nor_followed(folder: str, tmp_path: Path) -> None:
    path = make_scratch(folder, 5)
    precious = tmp_path / "precious"
    os.rename(os.path.dirname(path), precious)
    os.symlink(precious, os.path.dirname(path))
    assert find_scratch(folder, 5) is None
    remove_scratch(folder)
    assert (precious / "archive.db").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_somebody_else_s_is_neither_used_nor_removed(folder: str) -> None:
    path = make_scratch(folder, 5)
    os.chown(os.path.dirname(path), 65534, 65534)
    assert find_scratch(folder, 5) is None
    remove_scratch(folder)
    assert os.path.exists(path)


@pytest.mark.parametrize("noted", ["5\n/etc", "5\nunified-state-0", "5", "", "5\n/nowhere/unified-state-0"])
def test_a_note_that_somebody_changed_leads_nowhere(folder: str, noted: str) -> None:
    Path(folder, "scratch").write_text(noted, encoding="utf-8")
    assert find_scratch(folder, 5) is None
    remove_scratch(folder)
    assert not Path(folder, "scratch").exists() or noted in ("5", "", "5\n/etc", "5\nunified-state-0")


def test_without_any_other_place_it_lies_beside_the_journal(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", "/nowhere")
    path = make_scratch(folder, 5)
    assert os.path.dirname(os.path.dirname(path)) == folder
