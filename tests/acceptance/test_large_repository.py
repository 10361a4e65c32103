"""PreCompact in a repository of many files: the client does not wait for git to compare them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from unified_state.memory.archive.sessions import is_running

from .product import PATIENCE, Project
from .session_client import Client

FILES = 5_000
# The first `status` takes long, and notes its own process and the one that asked it.
SLOW_GIT = """#!/bin/sh
case "$*" in *" status "*) [ -e "$0.asked" ] || {{ echo $$ $PPID >"$0.asked"; sleep {seconds}; }};; esac
exec {git} "$@"
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
    git.write_text(SLOW_GIT.format(seconds=seconds, git=shutil.which("git")), encoding="utf-8")
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


def wait_for_end(asked: Path) -> None:
    """Wait until the process that asked git has ended."""
    until = time.monotonic() + PATIENCE
    while not asked.exists() or is_running(int(asked.read_text(encoding="utf-8").split()[1])):
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_killed_git_costs_its_answer_alone(client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client.project.decide("Keep the parser in C")
    asked = compact(client, tmp_path, monkeypatch, seconds=60)
    assert "Keep the parser in C" in str(client.project.state())
    until = time.monotonic() + PATIENCE
    while not asked.exists():
        assert time.monotonic() < until
        time.sleep(0.05)
    os.killpg(int(asked.read_text(encoding="utf-8").split()[0]), signal.SIGKILL)
    wait_for_end(asked)
    state = client.project.state()
    assert (state["trigger"], bool(state["git"]["error"])) == ("precompact", True)


def test_a_later_save_stays(client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = compact(client, tmp_path, monkeypatch, seconds=2)
    while not asked.exists():
        time.sleep(0.05)
    subprocess.run(["git", "commit", "--quiet", "--allow-empty", "-m", "later"], cwd=client.project.folder, check=True)
    assert client.project.run("save").code == 0
    saved = client.project.state()
    wait_for_end(asked)
    assert client.project.state() == saved
    assert saved["trigger"] == "manual"


def test_a_failure_behind_the_answer_is_reported(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = compact(client, tmp_path, monkeypatch, seconds=1)
    folder = client.project.state_path.parent
    folder.rename(tmp_path / "claude")
    folder.write_text("", encoding="utf-8")  # nothing can be made in a file
    wait_for_end(asked)
    assert "unified-session-state" in client.project.log()
    (trace,) = client.project.data.glob("repositories/*/runs/PreCompact")
    assert json.loads(trace.read_bytes())[2]
