"""One contract for every way of asking git: the same answer, in every kind of repository."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from unified_state.model.session_state import GitState

Git = Callable[..., str]
Read = Callable[..., GitState]


def conflicting_branches(repository: Path, git: Git) -> None:
    """On `main` and on `topic` the same line of alpha.txt differs."""
    git(repository, "switch", "--quiet", "--create", "topic")
    for branch in ("topic", "main"):
        git(repository, "switch", "--quiet", branch)
        (repository / "alpha.txt").write_text(f"{branch}\n")
        git(repository, "commit", "--quiet", "--all", "--message", f"Change alpha.txt on {branch}")


def test_a_clean_worktree(repository: Path, git: Git, read: Read) -> None:
    assert read(repository) == GitState(
        branch="main",
        commit=git(repository, "rev-parse", "HEAD"),
        recent_commits=tuple(git(repository, "log", "--format=%h %s").splitlines()),
    )


def test_changes_of_every_kind(repository: Path, git: Git, read: Read) -> None:
    (repository / "alpha.txt").write_text("changed\n")
    git(repository, "mv", "beta.txt", "gamma.txt")
    (repository / "new.txt").write_text("new\n")
    git(repository, "add", "new.txt")
    (repository / "new.txt").unlink()
    (repository / "untracked").mkdir()
    for number in range(500):
        (repository / "untracked" / str(number)).touch()
    state = read(repository)
    assert state.status == " M alpha.txt\nR  beta.txt -> gamma.txt\nAD new.txt\n?? untracked/"
    assert state.modified_files == ("alpha.txt", "gamma.txt", "new.txt", "untracked/")
    assert state.changed_count == 4
    assert state.staged_changes == "2 files changed, 1 insertion(+)"


def test_only_the_newest_commits_are_told(repository: Path, git: Git, read: Read) -> None:
    for number in range(7):
        git(repository, "commit", "--quiet", "--allow-empty", "--message", f"Number {number} " + "ä" * 200)
    commits = read(repository).recent_commits
    assert [commit.split()[2] for commit in commits] == ["6", "5", "4", "3", "2"]
    assert all(commit.endswith("ä…") for commit in commits)


def test_a_detached_head_has_a_commit_and_no_branch(repository: Path, git: Git, read: Read) -> None:
    git(repository, "switch", "--quiet", "--detach", "HEAD~1")
    state = read(repository)
    assert (state.branch, state.commit, state.error) == (None, git(repository, "rev-parse", "HEAD"), None)


def test_before_the_first_commit_the_branch_is_known(tmp_path: Path, git: Git, read: Read) -> None:
    git(tmp_path, "init", "--quiet", "unborn")
    (tmp_path / "unborn" / "first.txt").write_text("first\n")
    git(tmp_path / "unborn", "add", "first.txt")
    assert read(tmp_path / "unborn") == GitState(
        branch="main",
        status="A  first.txt",
        modified_files=("first.txt",),
        staged_changes="1 file changed, 1 insertion(+)",
        changed_count=1,
    )


def test_a_worktree_has_its_own_branch_and_operation(repository: Path, git: Git, read: Read) -> None:
    conflicting_branches(repository, git)
    git(repository, "worktree", "add", "--quiet", "../second", "topic")
    git(repository.parent / "second", "merge", "main", fails=True)
    first, second = read(repository), read(repository.parent / "second")
    assert (first.branch, first.operation, first.status) == ("main", None, "")
    assert (second.branch, second.operation, second.status) == ("topic", "merge", "UU alpha.txt")


def test_a_submodule_is_a_repository_and_one_path_with_a_new_commit(
    repository: Path, tmp_path: Path, git: Git, read: Read
) -> None:
    git(tmp_path, "init", "--quiet", "outer")
    git(tmp_path / "outer", "submodule", "--quiet", "add", "../repository", "inner")
    git(tmp_path / "outer", "commit", "--quiet", "--message", "Add inner")
    (tmp_path / "outer" / "inner" / "alpha.txt").write_text("changed\n")
    outer, inner = read(tmp_path / "outer"), read(tmp_path / "outer" / "inner")
    assert (outer.status, outer.recent_commits[0].split(" ", 1)[1]) == ("", "Add inner")
    assert (inner.status, inner.commit) == (" M alpha.txt", git(repository, "rev-parse", "HEAD"))
    git(tmp_path / "outer" / "inner", "commit", "--quiet", "--all", "--message", "changed")
    assert read(tmp_path / "outer").status == " M inner"


def test_a_bare_repository_is_not_used(repository: Path, tmp_path: Path, git: Git, read: Read) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", "repository", "bare")
    error = f"cannot use bare repository '{tmp_path / 'bare'}' (safe.bareRepository is 'explicit')"
    assert read(tmp_path / "bare") == GitState(error=error)


def test_no_repository(tmp_path: Path, read: Read) -> None:
    error = "not a git repository (or any of the parent directories): .git"
    assert read(tmp_path / "home") == GitState(error=error)


@pytest.mark.parametrize("folder", ["missing", "home/gitconfig"])
def test_no_folder(tmp_path: Path, read: Read, folder: str) -> None:
    assert str(read(tmp_path / folder).error).startswith("cannot change to ")


def test_no_git(repository: Path, environment: dict[str, str], read: Read) -> None:
    environment["PATH"] = str(repository)
    assert read(repository) == GitState(error="there is no git on the PATH")


def test_a_git_in_the_working_folder_is_never_run(
    repository: Path, environment: dict[str, str], read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / "git").write_text("#!/bin/sh\ntouch ran\n")
    (repository / "git").chmod(0o755)
    environment["PATH"] = f"{os.pathsep}.{os.pathsep}{environment['PATH']}"
    monkeypatch.chdir(repository)
    assert read(repository).branch == "main"
    assert not (repository / "ran").exists()


def test_a_git_that_cannot_be_started(
    repository: Path, tmp_path: Path, environment: dict[str, str], read: Read
) -> None:
    program = tmp_path / "programs" / "git"
    program.parent.mkdir()
    program.write_text("#!/missing/interpreter\n")
    program.chmod(0o755)
    environment["PATH"] = str(program.parent)
    assert str(read(repository).error).startswith("git could not be started: ")


@pytest.mark.parametrize(
    ("command", "branch"), [(["merge"], "main"), (["rebase", "--merge"], None), (["rebase", "--apply"], None)]
)
def test_a_merge_or_rebase_under_way(
    repository: Path, git: Git, read: Read, command: list[str], branch: str | None
) -> None:
    conflicting_branches(repository, git)
    git(repository, *command, "topic", fails=True)
    state = read(repository)
    assert (state.branch, state.operation, state.status) == (branch, command[0], "UU alpha.txt")


def test_a_bisection(repository: Path, git: Git, read: Read) -> None:
    git(repository, "bisect", "start", "HEAD", "HEAD~1")
    assert read(repository).operation == "bisect"


@pytest.mark.skipif(getattr(os, "geteuid", lambda: 1)() != 0, reason="only root gives a repository to another user")
def test_a_repository_of_someone_else_is_refused_in_gits_words(repository: Path, read: Read) -> None:
    for path in (repository, repository / ".git"):
        os.chown(path, 4242, 4242)
    state = read(repository)
    assert state == GitState(error=f"detected dubious ownership in repository at '{repository}'")


def test_of_a_damaged_index_the_rest_is_told(repository: Path, git: Git, read: Read) -> None:
    (repository / ".git" / "index").write_bytes(b"not an index")
    state = read(repository)
    assert (state.branch, state.commit, len(state.recent_commits)) == ("main", git(repository, "rev-parse", "HEAD"), 2)
    assert state.error is not None


def test_of_missing_commits_the_rest_is_told(repository: Path, git: Git, read: Read) -> None:
    commit = git(repository, "rev-parse", "HEAD~1")
    (repository / ".git" / "objects" / commit[:2] / commit[2:]).unlink()
    (repository / "alpha.txt").write_text("changed\n")
    state = read(repository)
    assert (state.branch, state.status) == ("main", " M alpha.txt")
    assert commit in str(state.error)
