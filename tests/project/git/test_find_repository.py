from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from unified_state.project.find_repository import Repository, find_repository, read_head

Git = Callable[..., str]


def located(folder: Path) -> Repository:
    return find_repository(str(folder))


def test_a_repository_is_found_from_any_of_its_folders(repository: Path) -> None:
    deep = repository / "a" / "b"
    deep.mkdir(parents=True)
    git_dir = str(repository / ".git")
    assert located(deep) == located(repository) == Repository(str(repository), git_dir, git_dir)


def test_a_worktree_has_a_git_dir_of_its_own_and_shares_the_common_one(
    repository: Path, git: Git, tmp_path: Path
) -> None:
    git(repository, "worktree", "add", "--quiet", str(tmp_path / "other"), "-b", "other")
    found = located(tmp_path / "other")
    assert found.worktree == str(tmp_path / "other")
    assert found.common_dir == str(repository / ".git")
    assert found.git_dir == str(repository / ".git" / "worktrees" / "other")


@pytest.mark.parametrize("content", ["gitdir: /nowhere/at/all\n", "something else\n", "", b"\xff"])
def test_a_git_file_that_leads_nowhere_is_no_repository(tmp_path: Path, content: str | bytes) -> None:
    (tmp_path / ".git").write_bytes(content if isinstance(content, bytes) else content.encode())
    assert located(tmp_path) == Repository(str(tmp_path))


def head(folder: Path) -> tuple[str | None, str | None]:
    return read_head(located(folder))


@pytest.mark.parametrize("text", ["ghp_" + "a1B2" * 9, "0123", "0123456789abcdef0123456789abcdef0123456g", ""])
def test_a_head_that_names_no_commit_has_none(repository: Path, text: str) -> None:
    (repository / ".git" / "HEAD").write_text(f"{text}\n", encoding="utf-8")
    assert head(repository) == (None, None)


def test_a_head_is_read_as_git_reads_it_whatever_follows_its_colon(repository: Path, git: Git) -> None:
    commit = git(repository, "rev-parse", "HEAD")
    (repository / ".git" / "HEAD").write_text("ref:\trefs/heads/main\n", encoding="utf-8")
    assert head(repository) == (commit, "main") == (git(repository, "rev-parse", "HEAD"), "main")


def test_a_packed_branch_is_found(repository: Path, git: Git) -> None:
    git(repository, "branch", "xmain")
    git(repository, "pack-refs", "--all")
    assert not (repository / ".git" / "refs" / "heads" / "main").exists()
    assert head(repository) == (git(repository, "rev-parse", "HEAD"), "main")


def test_the_head_of_a_worktree_is_its_own(repository: Path, git: Git, tmp_path: Path) -> None:
    other = tmp_path / "other"
    git(repository, "worktree", "add", "--quiet", str(other), "-b", "other")
    (other / "new.txt").touch()
    git(other, "add", ".")
    git(other, "commit", "--quiet", "--message", "there")
    assert head(other) == (git(other, "rev-parse", "HEAD"), "other")
    assert head(other)[0] != head(repository)[0]


def test_refs_that_plain_files_do_not_hold_are_not_guessed(repository: Path) -> None:
    """A repository with the reftable format has this in its HEAD."""
    (repository / ".git" / "HEAD").write_text("ref: refs/heads/.invalid\n")
    assert head(repository) == (None, None)
