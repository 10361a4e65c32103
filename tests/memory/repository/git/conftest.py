"""Real repositories, made by real git, apart from the configuration of whoever runs the tests."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from unified_state.lib.processes import PopenedProcesses, SpawnedProcesses
from unified_state.memory.repository.git_library import read_git_with_gitpython
from unified_state.memory.repository.git_state import read_git
from unified_state.model.session_state import GitState

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
    "posix_spawn": partial(read_git, start=SpawnedProcesses),
    "subprocess": partial(read_git, start=PopenedProcesses),
    "GitPython": read_git_with_gitpython,
}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The environment for git: the real PATH, a home folder of its own."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "gitconfig").write_text(GLOBAL_CONFIG)
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "GIT_CONFIG_GLOBAL": str(home / "gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_EDITOR": "true",
    }


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


@pytest.fixture
def repository(tmp_path: Path, git: Git) -> Path:
    """A repository on the branch `main` with two commits and two files."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet")
    for name in ("alpha.txt", "beta.txt"):
        (folder / name).write_text(f"{name}\n" * 10)
        git(folder, "add", name)
        git(folder, "commit", "--quiet", "--message", f"Add {name}")
    return folder


@pytest.fixture(params=READERS)
def read(request: pytest.FixtureRequest, environment: dict[str, str]) -> Read:
    """Asks git about a folder, in each of the ways we have."""
    reader = READERS[request.param]
    return lambda folder, *deadline: reader(str(folder), environment, *deadline)
