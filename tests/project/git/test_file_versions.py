from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from unified_state.project.file_versions import changed_since, file_versions


@pytest.fixture(autouse=True)
def file(repository: Path) -> Path:
    """A file of the repository."""
    path = repository / "a.py"
    path.write_text("print(1)\n", encoding="utf-8")
    return path


def version(folder: Path, path: str = "a.py") -> str:
    return file_versions(str(folder), [path])[path]


def change(path: Path, content: str) -> None:
    """Another content, of another time."""
    path.write_text(content, encoding="utf-8")
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1_000_000))


def test_the_id_is_the_one_that_git_gives(repository: Path) -> None:
    done = subprocess.run(["git", "hash-object", "a.py"], cwd=repository, check=True, capture_output=True, text=True)
    assert version(repository).split(" ")[0] == done.stdout.strip()


@pytest.mark.parametrize("content", ["print(2)\n", "print(1)\nprint(2)\n", ""])
def test_a_changed_file_is_changed(repository: Path, content: str) -> None:
    before = version(repository)
    change(repository / "a.py", content)
    assert changed_since(str(repository), "a.py", before) is True


def test_a_change_right_after_is_seen_though_the_time_may_be_the_same(repository: Path) -> None:
    path = repository / "a.py"
    at = path.stat().st_mtime_ns
    before = version(repository)
    path.write_text("print(2)\n", encoding="utf-8")
    os.utime(path, ns=(at, at))
    assert changed_since(str(repository), "a.py", before) is True


def test_a_file_that_went_is_gone(repository: Path) -> None:
    before = version(repository)
    (repository / "a.py").unlink()
    assert changed_since(str(repository), "a.py", before) is None


@pytest.mark.parametrize(
    "path", ["missing.py", "../outside.py", "/etc/hostname", ".", "nul\0.py", "x" * 5000, "pipe", "link.py"]
)
def test_only_files_inside_the_worktree_have_a_version(repository: Path, path: str) -> None:
    (repository.parent / "outside.py").write_text("x", encoding="utf-8")
    os.mkfifo(repository / "pipe")
    (repository / "link.py").symlink_to(repository.parent / "outside.py")
    assert file_versions(str(repository), [path]) == {}


@pytest.mark.parametrize("damaged", ["", "abc", "abc x y", "  "])
def test_a_damaged_version_counts_as_another_one(repository: Path, damaged: str) -> None:
    assert changed_since(str(repository), "a.py", damaged) is True
