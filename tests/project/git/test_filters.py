"""Every filter that git would run is found by asking git, wherever it is configured; asking runs none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from unified_state.project import git_command
from unified_state.project.git_command import GitNotCalledError, prepare_git
from unified_state.project.git_state import read_git

Git = Callable[..., str]


def test_a_variable_without_a_name_is_no_filter(repository: Path, environment: dict[str, str], git: Git) -> None:
    plain = prepare_git(str(repository), environment).arguments()
    git(repository, "config", "filter.required", "true")
    git(repository, "config", "other.filter.clean", "true")
    assert prepare_git(str(repository), environment).arguments() == plain
    environment |= {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "filter.a.b.clean", "GIT_CONFIG_VALUE_0": "x"}
    assert "filter.a.b.clean=" in prepare_git(str(repository), environment).arguments()


def test_no_filter_of_a_submodule_is_run_and_its_new_commit_is_told(
    repository: Path, tmp_path: Path, environment: dict[str, str], git: Git
) -> None:
    shutil.copytree(repository, tmp_path / "other")
    git(repository, "submodule", "--quiet", "add", str(tmp_path / "other"), "inner")
    git(repository, "commit", "--quiet", "--message", "Add inner")
    inner = repository / "inner"
    with (repository / ".git/modules/inner/config").open("a", encoding="utf-8") as file:
        file.write(f'[filter "trap"]\n\tclean = touch {tmp_path}/ran; cat\n')
    (inner / ".gitattributes").write_text("* filter=trap\n")
    (inner / "alpha.txt").write_text("changed\n")
    assert read_git(str(repository), environment).status == ""
    assert not (tmp_path / "ran").exists()
    git(inner, "commit", "--quiet", "--all", "--message", "changed")
    (tmp_path / "ran").unlink()
    assert read_git(str(repository), environment).status == " M inner"
    assert not (tmp_path / "ran").exists()


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
