"""What git tells of commits that came after another one, in real repositories of every kind."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from unified_state.project import git_command
from unified_state.project.git_command import later_commits

Git = Callable[..., str]


@pytest.fixture
def history(git: Git, repository: Path) -> list[str]:
    """Six commits on main, a branch from the third, and a merge of it; the oldest first, as git lists them."""
    for number in range(5):
        git("commit", "--quiet", "--allow-empty", "--message", str(number))
    git("switch", "--quiet", "--create", "feature", "HEAD~2")
    git("commit", "--quiet", "--allow-empty", "--message", "feature")
    git("switch", "--quiet", "main")
    git("merge", "--quiet", "--no-ff", "--message", "merged", "feature")
    return git("rev-list", "--topo-order", "--reverse", "HEAD").split()


def later(folder: Path, head: str, commits: list[str]) -> set[str]:
    """The commits that have a head in their history."""
    return later_commits(str(folder), head, commits)


def test_every_commit_tells_what_comes_after_it(
    git: Git, history: list[str], repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_command, "_HISTORY_SECONDS", 20.0)
    for head in history:
        behind = git("rev-list", "--ancestry-path", f"{head}..HEAD").split()
        assert later(repository, head, history) == set(behind)


def test_a_worktree_and_a_shallow_clone_tell_what_they_have(
    git: Git, history: list[str], repository: Path, tmp_path: Path
) -> None:
    git("worktree", "add", "--quiet", "--detach", str(tmp_path / "old"), history[1])
    assert later(tmp_path / "old", history[1], history) == set(history[2:])
    git("clone", "--quiet", "--depth", "2", f"file://{repository}", str(tmp_path / "clone"))
    head = git("rev-parse", "HEAD~1", cwd=tmp_path / "clone").strip()
    assert later(tmp_path / "clone", head, history) == {history[-1]}
    assert later(tmp_path / "clone", history[0], history) == set()  # it is not there


def test_where_git_cannot_tell_nothing_is_later(
    history: list[str], repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert later(tmp_path, history[0], history) == set()
    assert later(repository, "x", history) == set()
    assert later(repository, history[0], ["../../secret", "", "--all"]) == set()
    commit = repository / ".git/objects" / history[3][:2] / history[3][2:]
    commit.unlink()
    os.mkfifo(commit)
    assert later(repository, history[0], history[-1:]) == set()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert later(repository, history[0], history) == set()
