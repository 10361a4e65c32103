"""PreCompact in a repository of many files: the client does not wait for git to compare them."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from .product import PATIENCE, Project
from .session_client import Client

FILES = 5_000
SLOW_GIT = """#!/bin/sh
case "$*" in *" status "*) echo $$ >>"$0.asked"; sleep {seconds};; esac
exec /usr/bin/git "$@"
"""


@pytest.fixture
def client(repository: Path, home: Path, no_settings: None) -> Client:
    """A session in a repository whose index is large."""
    for number in range(FILES):
        (repository / f"{number:0220}").touch()
    for command in (["add", "."], ["commit", "--quiet", "--message", "many"]):
        subprocess.run(["git", *command], cwd=repository, check=True)
    (repository / "changed.py").write_text("x = 1\n", encoding="utf-8")
    session = Client(Project(repository, home))
    session.hook("SessionStart", "brief", source="startup")
    session.asks("Begin with the parser.")
    session.stops()
    return session


def compact(client: Client, folder: Path, monkeypatch: pytest.MonkeyPatch, seconds: float) -> Path:
    """Run PreCompact with a git whose `status` takes long, and return the file with the processes that asked it."""
    git = folder / "git"
    git.write_text(SLOW_GIT.format(seconds=seconds), encoding="utf-8")
    git.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    client.hook("PreCompact", trigger="auto")
    return folder / "git.asked"


def test_the_client_does_not_wait_for_git_and_the_state_gets_its_answer(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compact(client, tmp_path, monkeypatch, seconds=1.5)
    before = client.project.state()
    assert before.get("trigger") != "precompact", "the hook waited for git"
    until = time.monotonic() + PATIENCE
    while (state := client.project.state()).get("trigger") != "precompact":
        assert time.monotonic() < until
        time.sleep(0.05)
    assert "changed.py" in str(state["git"])
    assert client.project.log() == ""


def test_a_killed_git_costs_its_answer_alone(client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client.project.decide("Keep the parser in C")
    asked = compact(client, tmp_path, monkeypatch, seconds=60)
    assert "Keep the parser in C" in str(client.project.state())
    until = time.monotonic() + PATIENCE
    while not asked.exists():
        assert time.monotonic() < until
        time.sleep(0.05)
    for line in asked.read_text(encoding="utf-8").split():
        os.killpg(int(line), signal.SIGKILL)
    while client.project.state().get("trigger") != "precompact":
        assert time.monotonic() < until
        time.sleep(0.05)
    assert client.project.state()["git"]["error"]
