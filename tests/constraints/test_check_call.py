from __future__ import annotations

from pathlib import Path

import pytest

from unified_state.constraints.check_call import Locator


@pytest.fixture
def worktree(tmp_path: Path) -> Path:
    """A worktree with a file in `src`, and a symlink to that folder."""
    folder = tmp_path / "worktree"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "a.py").touch()
    (folder / "link").symlink_to("src")
    return folder


@pytest.mark.parametrize(
    ("path", "folder"),
    [("src/a.py", ""), ("./src/../src/a.py", ""), ("a.py", "src"), ("../src/a.py", "src"), ("link/a.py", "")],
)
def test_a_file_is_found_however_its_path_is_written(worktree: Path, path: str, folder: str) -> None:
    forms = Locator(str(worktree), str(worktree), folds_case=False).forms(path, folder)
    assert "src/a.py" in forms.relative
    assert f"{worktree}/src/a.py" in forms.absolute


def test_a_file_outside_has_no_path_in_the_worktree(worktree: Path) -> None:
    assert Locator(str(worktree), str(worktree), folds_case=False).forms("../a.py", "").relative == ()


def test_the_session_may_have_moved_to_another_folder(worktree: Path) -> None:
    forms = Locator(str(worktree), str(worktree / "src"), folds_case=False).forms("a.py", "")
    assert "src/a.py" in forms.relative
