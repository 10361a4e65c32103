"""A session belongs to the project in which it began, wherever its shell stands."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.builders import SESSION, answer, append, prompt
from unified_state.hosts.transcripts.rules.hosts import HOSTS
from unified_state.interfaces.cli.main import run
from unified_state.interfaces.hook import HookRun
from unified_state.interfaces.hook_tool_output import shortened
from unified_state.interfaces.hook_tool_use import check
from unified_state.interfaces.host_hook import HostRun
from unified_state.interfaces.mcp.server_project import Project
from unified_state.project.place import locate
from unified_state.settings import default_data_dir

Git = Callable[..., str]
RULE = "API v1 stays"


class Session:
    """A session of the client that began in `project`; its hooks run in this process."""

    def __init__(self, project: Path, home: Path) -> None:
        self.project, self.shell, self.config = project, project, home / ".claude"
        self.data = Path(default_data_dir())
        self.transcript = self.config / "projects" / re.sub("[^a-zA-Z0-9]", "-", str(project)) / f"{SESSION}.jsonl"
        self.transcript.parent.mkdir(parents=True)
        append(self.transcript, prompt(0, "Use the CHINCHILLA parser"), answer(1, "It is used."))

    @property
    def environ(self) -> dict[str, str]:
        """What the client gives a hook."""
        return {"CLAUDE_PROJECT_DIR": str(self.project), "CLAUDE_CODE_SESSION_ID": SESSION, "CLAUDECODE": "1"}

    def given(self, event: str, **fields: Any) -> bytes:
        """What the client writes to a hook's stdin."""
        told = {"session_id": SESSION, "transcript_path": str(self.transcript), "cwd": str(self.shell)}
        return json.dumps({**told, "hook_event_name": event, **fields}).encode()

    def hook(self, event: str, part: str = "", **fields: Any) -> str:
        """Run a hook, which must go well, and return its answer."""
        given, told = self.given(event, **fields), []

        class Called(HookRun):
            def read(self) -> bytes:
                return given

            def tell(self, answer: str) -> None:
                told.append(answer)

        ran = Called(event, part, str(self.data), self.environ)
        assert (ran.run(), ran.problem) == (0, None)
        return "".join(told)

    def judged(self, command: str) -> str:
        """The answer to a tool call."""
        call = self.given("PreToolUse", tool_name="Bash", tool_input={"command": command})
        return check(lambda: call, str(self.data), self.environ)

    def archived_output(self, output: str) -> str:
        """The answer to a tool's output."""
        fields = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "ls"}}
        response = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        call = self.given("PostToolUse", **fields, tool_response=response)
        return shortened(lambda: call, "tight", str(self.data), {**self.environ, "PATH": os.environ["PATH"]})

    def archives(self) -> list[str]:
        """The ids of all memories."""
        return sorted(path.parent.name for path in self.data.glob("repositories/*/archive.db"))


@pytest.fixture
def session(repository: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    """A session in a repository with two rules."""
    monkeypatch.chdir(repository)
    assert run(["constraint", "add", RULE, "--source", "the user", "--blocking"]) == 0
    rule = ["constraint", "add", "No pushes", "--source", "me", "--scope", "command:git push", "--mode", "ask"]
    assert run(rule) == 0
    monkeypatch.chdir(home)
    return Session(repository, home)


def submodule(session: Session, git: Git) -> Path:
    git("init", "--quiet", "sub")
    return session.project / "sub"


def added(session: Session, git: Git) -> Path:
    git("init", "--quiet", str(session.project.parent / "added"))
    return session.project.parent / "added"


def plain(session: Session, _git: Git) -> Path:
    folder = session.project.parent / "plain"
    folder.mkdir()
    return folder


def removed(session: Session, _git: Git) -> Path:
    return session.project.parent / "removed"


def memory_in(folder: Path) -> list[Path]:
    """What of ours lies in a folder."""
    return [path for path in folder.rglob("*") if "unified" in path.name]


@pytest.fixture(params=[submodule, added, plain, removed])
def elsewhere(request: pytest.FixtureRequest, session: Session, git: Git) -> Path:
    """A folder that is not the project's, in which the shell stands; a rule that is there already is its own."""
    session.shell = request.param(session, git)
    return session.shell


def test_every_event_of_a_session_is_its_projects(session: Session, elsewhere: Path) -> None:
    (own,) = session.archives()
    assert RULE in session.hook("SessionStart", "brief", source="startup")
    session.hook("UserPromptSubmit", prompt="Go on")
    assert RULE in session.hook("SubagentStart", agent_id="a1", agent_type="general-purpose")
    assert "No pushes" in session.judged("git push")
    output = "\n".join(f"line {number} of the build's output, which is long" for number in range(3000))
    assert json.loads(session.archived_output(output))
    session.hook("SubagentStop", agent_id="a1", agent_type="general-purpose", last_assistant_message="Found.")
    session.hook("Stop", last_assistant_message="Done.")
    assert RULE in session.hook("PreCompact", trigger="auto")
    session.hook("SubagentStop", agent_type="", last_assistant_message="<summary>We went on.</summary>")
    assert RULE in session.hook("SessionStart", "brief", source="compact")
    session.hook("SessionEnd", reason="other")
    assert session.archives() == [own]
    assert not elsewhere.exists() or memory_in(elsewhere) == []


def test_commands_and_calls_of_the_session_are_its_projects(
    session: Session, elsewhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (own,) = session.archives()
    session.hook("SessionStart", "brief", source="startup")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    is_removed = not elsewhere.exists()
    elsewhere.mkdir(exist_ok=True)
    monkeypatch.chdir(elsewhere)
    if is_removed:
        elsewhere.rmdir()
    capsys.readouterr()
    assert run(["decision", "add", "Use SQLite", "--rationale", "one file"]) == 0
    assert run(["search", "SQLite"]) == 0
    told = capsys.readouterr()
    assert "Use" in told.out
    is_outside = not (is_removed or elsewhere.is_relative_to(session.project))
    assert told.err.count(f"this session belongs to {session.project}") == (2 if is_outside else 0)
    assert Project.of_client().reading().place.id == own
    assert session.archives() == [own]
    assert memory_in(elsewhere) == []


def test_what_an_ended_session_started_belongs_to_its_own_folder(
    session: Session, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.hook("SessionStart", "brief", source="startup")
    session.hook("SessionEnd", reason="other")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    monkeypatch.chdir(added(session, git))
    assert run(["decision", "add", "Use SQLite", "--rationale", "one file"]) == 0
    assert len(session.archives()) == 2


def test_the_shell_chooses_among_the_worktrees_of_the_repository(session: Session, git: Git, tmp_path: Path) -> None:
    git("worktree", "add", "--quiet", str(tmp_path / "other"))
    session.shell = tmp_path / "other"
    session.hook("UserPromptSubmit", prompt="Go on")
    session.hook("PreCompact", trigger="auto")
    assert len(session.archives()) == 1
    assert (tmp_path / "other" / ".claude" / "unified-session-state.json").exists()


def test_outside_git_a_session_whose_shell_is_in_a_subfolder_has_the_projects_memory(
    tmp_path: Path, home: Path
) -> None:
    project = tmp_path / "notes"
    (project / "sub").mkdir(parents=True)
    session = Session(project, home)
    session.hook("SessionStart", "brief", source="startup")
    session.shell = project / "sub"
    session.hook("UserPromptSubmit", prompt="Go on")
    session.hook("Stop", last_assistant_message="Done.")
    assert session.archives() == [locate(str(project), str(session.data), create=False).id]
    assert memory_in(project / "sub") == []


def test_another_host_keeps_the_project_of_the_sessions_start(
    session: Session, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own,) = session.archives()

    def call(event: str, **fields: Any) -> None:
        ran = HostRun(HOSTS["codex"], event, str(session.data))
        monkeypatch.setattr(ran, "read", lambda: session.given(event, **fields))
        monkeypatch.setattr(ran, "tell", lambda _answer: None)
        assert (ran.run(), ran.problem) == (0, None)

    call("SessionStart", source="startup")
    session.shell = added(session, git)
    call("UserPromptSubmit", prompt="Go on")
    call("Stop", last_assistant_message="Done.")
    assert session.archives() == [own]
    call("SessionStart", source="resume")  # the user resumed it there
    call("UserPromptSubmit", prompt="Go on")
    assert len(session.archives()) == 2
