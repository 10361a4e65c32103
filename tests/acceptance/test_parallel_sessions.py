"""Sessions at work at the same time are told what the others decided: once, as data, and nothing that is gone."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Prepared
from .product import Project

MARK = "[ELSEWHERE]"
HOLD = """
import sqlite3, sys, time
archive = sqlite3.connect(sys.argv[1])
archive.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
time.sleep(60)
"""


def fill_sessions(project: Project, _folder: Path) -> None:
    """The sessions `one` and `other`, which have begun, and know D1."""
    project.decide("Use SQLite")
    for session in ("one", "other"):
        begin(project, session)


@pytest.fixture
def sessions(prepared: Prepared) -> Project:
    """A project in which the sessions `one` and `other` have begun, and know D1."""
    return prepared(fill_sessions)


def begin(project: Project, session: str, source: str = "startup") -> str:
    """What a session is given at its start."""
    return context(project.hook("SessionStart", "brief", session_id=session, source=source).out)


def told(project: Project, session: str, **fields: object) -> str:
    """The line that the next prompt of a session is given; empty where there is none."""
    done = project.hook("UserPromptSubmit", session_id=session, prompt="go on", **fields)
    assert (done.code, project.log()) == (0, "")
    lines = [line for line in context(done.out).splitlines() if line.startswith(MARK)]
    assert len(lines) < 2
    return "".join(lines)


def context(out: str) -> str:
    """What a hook gives the model."""
    return str(json.loads(out)["hookSpecificOutput"]["additionalContext"]) if out else ""


def record(project: Project, session: str, *arguments: str) -> str:
    """What the agent of a session records; the id."""
    done = project.run(*arguments, "--json", CLAUDECODE="1", CLAUDE_CODE_SESSION_ID=session)
    assert done.code == 0, done
    return str(json.loads(done.out)["id"])


def decide(project: Project, session: str, text: str) -> str:
    return record(project, session, "decision", "add", text, "--rationale", "because")


def test_a_session_is_told_at_its_next_prompt_once_and_the_one_that_decided_never(sessions: Project) -> None:
    decide(sessions, "one", "Port 9090")
    assert told(sessions, "one") == ""
    assert "D2 (inferred): Port 9090. Why: because" in told(sessions, "other")
    assert told(sessions, "other") == ""


def test_what_the_user_records_in_a_terminal_is_told_to_all(sessions: Project) -> None:
    sessions.run("constraint", "add", "Never push", "--source", "me", "--blocking")
    for session in ("one", "other"):
        assert "C1 (the user said, blocking): Never push." in told(sessions, session)


def test_a_subagent_is_not_told_and_takes_nothing_from_its_parent(sessions: Project) -> None:
    decide(sessions, "one", "Port 9090")
    assert told(sessions, "other", agent_id="a1", agent_type="general-purpose") == ""
    assert "Port 9090" in told(sessions, "other")


def test_a_session_in_another_worktree_is_told(sessions: Project, git: Callable[..., str]) -> None:
    second = sessions.folder.parent / "second"
    git("worktree", "add", "--quiet", "-b", "feature", str(second), cwd=sessions.folder)
    there = Project(second, sessions.home)
    assert "Use SQLite" in begin(there, "third")
    decide(there, "third", "Port 9090")
    assert "Port 9090. Why: because [on another branch: feature]" in told(sessions, "one")
    decide(sessions, "one", "Port 9191")
    assert "Port 9191" in told(there, "third")


def test_a_prompt_that_cannot_note_what_it_was_told_still_goes_on(sessions: Project) -> None:
    decide(sessions, "one", "Port 9090")
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(sessions.archive)], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    try:
        holder.stdout.readline()
        done = sessions.hook("UserPromptSubmit", session_id="other", prompt="go on")
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
    assert (done.code, done.out) == (0, "")
    assert "Port 9090" in context(sessions.hook("UserPromptSubmit", session_id="other", prompt="go on").out)
