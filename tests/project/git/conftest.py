"""Real repositories, made by real git, apart from the configuration of whoever runs the tests."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from unified_state.model.session_state import GitState
from unified_state.project.git_command import GitPythonProcesses
from unified_state.project.git_state import read_git

GLOBAL_CONFIG = """
[user]
    name = A U Thor
    email = author@example.com
[init]
    defaultBranch = main
[commit]
    gpgSign = false
[protocol "file"]
    allow = always
"""

Git = Callable[..., str]
Read = Callable[..., GitState]

READERS: dict[str, Read] = {
    "subprocess": read_git,
    "GitPython": partial(read_git, start=GitPythonProcesses),
}


def clean_environment(folder: Path) -> dict[str, str]:
    """An environment for git: the real PATH, a home of its own in the folder."""
    home = folder / "home"
    home.mkdir()
    (home / "gitconfig").write_text(GLOBAL_CONFIG)
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "GIT_CONFIG_GLOBAL": str(home / "gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_EDITOR": "true",
        "GIT_DISCOVERY_ACROSS_FILESYSTEM": "1",  # the tests may lie on a disk of their own
    }


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The environment for git in this test."""
    return clean_environment(tmp_path)


@pytest.fixture
def git(environment: dict[str, str]) -> Git:
    """Runs git in a folder and gives what it prints. With `fails=True` it must fail, else it must not."""

    def run(folder: Path, *arguments: str, fails: bool = False, stdin: bytes = b"") -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=folder, env=environment, input=stdin, capture_output=True, check=False
        )
        assert (done.returncode != 0) == fails, done.stderr.decode()
        return done.stdout.decode(errors="replace").rstrip("\n")

    return run


@pytest.fixture(scope="session")
def two_commits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository that the tests of this worker copy: that takes a tenth of making it."""
    folder = tmp_path_factory.mktemp("two") / "repository"
    folder.mkdir()
    environment = clean_environment(folder.parent)

    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=folder, env=environment, check=True, capture_output=True)

    git("init", "--quiet")
    for name in ("alpha.txt", "beta.txt"):
        (folder / name).write_text(f"{name}\n" * 10)
        git("add", name)
        git("commit", "--quiet", "--message", f"Add {name}")
    for sample in (folder / ".git" / "hooks").glob("*.sample"):
        sample.unlink()
    return folder


@pytest.fixture
def repository(tmp_path: Path, two_commits: Path) -> Path:
    """A repository on the branch `main` with two commits and two files."""
    return shutil.copytree(two_commits, tmp_path / "repository")


@pytest.fixture(params=READERS)
def read(request: pytest.FixtureRequest, environment: dict[str, str]) -> Read:
    """Asks git about a folder, in each of the ways we have."""
    reader = READERS[request.param]
    return lambda folder, *deadline: reader(str(folder), environment, *deadline)
