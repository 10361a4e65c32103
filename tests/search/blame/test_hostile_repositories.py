"""A repository that wants its own programs run, or its readers to wait, gets neither."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.acceptance.hostile import CORPUS, Hostile, becoming_hostile
from tests.fork_server import run_ours
from tests.interfaces.cli.screen import PROGRAM, person
from unified_state.search.blame import git_blame

PROGRAMS_OF_BLAME = (
    "alias.blame=!{trap}",
    "alias.show=!{trap}",
    "alias.cat-file=!{trap}",
    "pager.blame={trap}",
    "pager.show={trap}",
)


@pytest.fixture
def hostile(repository: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hostile:
    """A repository into which anything may be planted."""
    return becoming_hostile(repository, home, tmp_path / "marks", monkeypatch)


def blame(folder: Path, place: str) -> subprocess.CompletedProcess[str]:
    """What `blame` does."""
    return run_ours([*PROGRAM, "blame", "--json", place], folder, person())


@pytest.mark.parametrize("make", CORPUS, ids=lambda make: str(make.__name__))
def test_no_program_of_a_repository_is_run(hostile: Hostile, make: Callable[[Hostile], None]) -> None:
    make(hostile)
    (hostile.folder / ".gitattributes").write_text("* diff=trap filter=trap\n", encoding="utf-8")
    (hostile.folder / "file.py").write_text("print(1)\n", encoding="utf-8")
    head = hostile.git("rev-parse", "HEAD", fails=True).strip()
    for setting in PROGRAMS_OF_BLAME:
        hostile.git("config", *setting.format(trap=hostile.trap).split("=", 1), fails=True)
    hostile.forget()
    for place in ("file.py", *([head] if head else [])):
        assert blame(hostile.folder, place).returncode in {0, 1}
    assert hostile.ran == []


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
    assert (found.commits, found.problem) == ([None], "git blame was stopped after 0.5 s")
