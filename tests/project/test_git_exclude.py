"""The repository's own exclude file: our lines come once, and no other goes."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from unified_state.project.git_exclude import exclude_from_git, include_in_git
from unified_state.project.place import EXCLUDED, NAME, Place, locate


def located(folder: Path, data_dir: Path) -> Place:
    return locate(str(folder), str(data_dir), create=True)


def exclude_of(repository: Path) -> Path:
    return repository / ".git" / "info" / "exclude"


def status(repository: Path) -> str:
    done = subprocess.run(["git", "status", "--short"], cwd=repository, capture_output=True, text=True, check=True)
    return done.stdout


def test_our_files_are_kept_out_of_git_status_once(repository: Path, data_dir: Path) -> None:
    place = located(repository, data_dir)
    (repository / ".claude").mkdir()
    for name in (NAME, "unified-session-state.lock", "unified-session-state.damaged-1.json"):
        (repository / ".claude" / name).touch()
    for _ in range(2):
        exclude_from_git(place, EXCLUDED)
    assert status(repository) == ""
    assert exclude_of(repository).read_text().count(NAME) == 1


@pytest.mark.parametrize("before", ["", "*.log\n", "*.log", "caf\udce9\n"])
def test_what_is_excluded_already_stays(repository: Path, data_dir: Path, before: str) -> None:
    exclude_of(repository).write_bytes(before.encode(errors="surrogateescape"))
    exclude_from_git(located(repository, data_dir), ["a", "b"])
    after = exclude_of(repository).read_bytes().decode(errors="surrogateescape")
    assert after.startswith(before)
    assert after[len(before) :].lstrip("\n") == "# unified-state begins\n.claude/a\n.claude/b\n# unified-state ends\n"


def test_a_repository_that_cannot_be_written_to_is_left_alone(repository: Path, data_dir: Path) -> None:
    place = located(repository, data_dir)
    shutil.rmtree(repository / ".git" / "info")
    (repository / ".git" / "info").touch()
    exclude_from_git(place, ["a"])
    assert (repository / ".git" / "info").read_text() == ""


@pytest.mark.parametrize("before", ["", "*.log\n", ".claude/b\n", "caf\udce9\r\n"])
def test_our_lines_go_and_no_other_does(repository: Path, data_dir: Path, before: str) -> None:
    exclude_of(repository).write_bytes(before.encode(errors="surrogateescape"))
    place = located(repository, data_dir)
    for names in (["a", "b"], ["c*.json"]):
        exclude_from_git(place, names)
    with exclude_of(repository).open("a") as file:
        file.write("*.tmp\n")
    include_in_git(place)
    assert exclude_of(repository).read_bytes().decode(errors="surrogateescape") == before + "*.tmp\n"


def test_lines_that_other_worktrees_share_stay(repository: Path, data_dir: Path, git: Callable[..., str]) -> None:
    place = located(repository, data_dir)
    exclude_from_git(place, ["a"])
    git("worktree", "add", "--quiet", "../other")
    include_in_git(place)
    assert ".claude/a" in exclude_of(repository).read_text().splitlines()
