"""Every filter that git would run is found by asking git, wherever it is configured; asking runs none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from unified_state.memory.repository import git_command
from unified_state.memory.repository.git_command import GitNotCalledError, prepare_git
from unified_state.memory.repository.git_state import read_git

Git = Callable[..., str]


def define(folder: Path, *names: str) -> None:
    """Add filters to the configuration of a git dir."""
    with (folder / "config").open("a", encoding="utf-8") as file:
        file.writelines(f'[filter "{name}"]\n\tclean = false\n' for name in names)


@pytest.fixture
def with_submodules(repository: Path, tmp_path: Path, git: Git) -> Path:
    """A repository with two submodules, one in a folder and one inside the other; each has a filter of its own."""
    shutil.copytree(repository, tmp_path / "other")
    git(repository, "submodule", "--quiet", "add", str(tmp_path / "other"), "folder/in nér")
    git(repository / "folder/in nér", "submodule", "--quiet", "add", str(tmp_path / "other"), "deep")
    (git_dir,) = (repository / ".git/modules/folder").iterdir()
    define(git_dir, "inner")
    define(git_dir / "modules/deep", "deep")
    return repository


def test_a_variable_without_a_name_is_no_filter(repository: Path, environment: dict[str, str], git: Git) -> None:
    assert prepare_git(str(repository), environment).filters == set()
    git(repository, "config", "filter.required", "true")
    git(repository, "config", "other.filter.clean", "true")
    assert prepare_git(str(repository), environment).filters == set()
    environment |= {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "filter.a.b.clean", "GIT_CONFIG_VALUE_0": "x"}
    assert prepare_git(str(repository), environment).filters == {"a.b"}


@pytest.mark.parametrize("variable", ["", "GIT_LITERAL_PATHSPECS"])
@pytest.mark.parametrize("folder", [".", "empty"])
def test_submodules_have_theirs_seen_from_any_folder(
    with_submodules: Path, environment: dict[str, str], folder: str, variable: str
) -> None:
    environment |= {variable: "1"} if variable else {}
    (with_submodules / "empty").mkdir()
    git = prepare_git(str(with_submodules / folder), environment)
    assert (git.filters, git.may_descend) == ({"inner", "deep"}, True)


def test_submodules_lie_in_the_worktree_that_the_configuration_names(
    with_submodules: Path, environment: dict[str, str], tmp_path: Path, git: Git
) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    inner = with_submodules / "folder/in nér"
    (git_dir,) = (with_submodules / ".git/modules/folder").iterdir()
    (inner / ".git").unlink()
    git_dir.rename(inner / ".git")
    git(victim.parent, "config", "--file", str(inner / ".git/config"), "--unset", "core.worktree")
    shutil.rmtree(inner / "deep")
    (with_submodules / ".git").rename(victim / ".git")
    git(victim, "config", "core.worktree", str(with_submodules))
    found = prepare_git(str(victim), environment)
    assert (found.filters, found.may_descend) == ({"inner"}, True)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives a folder to another user")
def test_a_submodule_of_another_user_has_its_filters(with_submodules: Path, environment: dict[str, str]) -> None:
    """Git asks for the status of a submodule without asking for its owner."""
    for path in (with_submodules / "folder/in nér", *(with_submodules / ".git/modules").rglob("*")):
        os.chown(path, 12345, 12345)
    assert "inner" in prepare_git(str(with_submodules), environment).filters


def test_of_too_many_submodules_and_of_a_damaged_index_none_is_entered(
    with_submodules: Path, environment: dict[str, str], git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_command, "_MOST_REPOSITORIES", 2)
    assert not prepare_git(str(with_submodules), environment).may_descend
    monkeypatch.undo()
    commit = git(with_submodules, "rev-parse", "HEAD")
    entries = "".join(f"160000 {commit}\tabsent{number}\n" for number in range(600))
    git(with_submodules, "update-index", "--index-info", stdin=entries.encode())
    assert not prepare_git(str(with_submodules), environment).may_descend
    (with_submodules / ".git/index").write_bytes(b"DIRC")
    assert not prepare_git(str(with_submodules), environment).may_descend


def test_a_submodule_that_is_damaged_holds_nothing_back(with_submodules: Path, environment: dict[str, str]) -> None:
    define(with_submodules / ".git", "own")
    (with_submodules / "folder/in nér/.git").write_text("gitdir: nowhere\n")
    found = prepare_git(str(with_submodules), environment)
    assert (found.filters, found.may_descend) == ({"own"}, False)
    assert read_git(str(with_submodules), environment).error is None


@pytest.mark.parametrize("content", ["[core\n", "[include]\n\tpath = config\n"])
def test_a_configuration_that_git_refuses_is_an_error(
    repository: Path, environment: dict[str, str], content: str
) -> None:
    (repository / ".git/config").write_text(content)
    with pytest.raises(GitNotCalledError, match=r"bad config line|include depth"):
        prepare_git(str(repository), environment)


def test_a_configuration_that_is_a_pipe_is_not_waited_for(
    repository: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / ".git/config").unlink()
    os.mkfifo(repository / ".git/config")
    monkeypatch.setattr(git_command, "_SECONDS", 0.3)
    with pytest.raises(GitNotCalledError, match=r"git config took longer than 0\.3 s"):
        prepare_git(str(repository), environment)
