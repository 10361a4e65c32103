"""A repository that forges a commit, or lets its readers wait, gets neither; its programs: test_hostile_worktrees."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fork_server import run_ours
from tests.interfaces.cli.screen import PROGRAM, person
from unified_state.extras.blame import git_blame


def blame(folder: Path, place: str) -> subprocess.CompletedProcess[str]:
    """What `blame` does."""
    return run_ours([*PROGRAM, "blame", "--json", place], folder, person())


def test_a_replaced_commit_is_not_shown(repository: Path, git: Callable[..., str]) -> None:
    first = git("rev-parse", "HEAD").strip()
    forged = git("commit-tree", "-m", "forged", "HEAD^{tree}").strip()
    git("replace", first, forged)
    (group,) = json.loads(blame(repository, "a.py").stdout)["lines"]
    assert (group["commit"]["id"], group["commit"]["subject"]) == (first, "first commit")


@pytest.mark.parametrize("place", ["info/attributes", "ignored"])
def test_a_pipe_where_git_expects_a_file_ends_at_a_deadline(
    repository: Path, git: Callable[..., str], monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    (repository / ".git" / "info").mkdir(exist_ok=True)
    os.mkfifo(repository / ".git" / place)
    if place == "ignored":
        git("config", "blame.ignoreRevsFile", ".git/ignored")
    monkeypatch.setattr(git_blame, "SECONDS", 0.5)
    found = git_blame.blame_file(str(repository), "a.py", 1)
    assert (found.commits, found.problem) == ([None], "git blame took longer than 0.5 s")
