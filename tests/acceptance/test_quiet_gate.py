"""The gate of prompts: silent without Python where nothing is to be told, and never where something is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unified_state.archive.archive import Archive
from unified_state.archive.sessions import session_number
from unified_state.context.context_table import keep_watched
from unified_state.hosts.install.hook_launcher import launcher_text
from unified_state.model.context_usage import FROM_CLIENT, Limit, UsageRecord

from .product import ROOT, Done, Project
from .session_client import SESSION, Client

pytestmark = pytest.mark.usefixtures("no_settings")
OTHER = "7c5a9d10-0000-4f0e-9a39-6f2c1f1f2a11"
PLAIN = "Go on with the lexer."
SHELLS = [shell for shell in ("sh", "dash", "bash") if shutil.which(shell)]


class Gated(Client):
    """A session whose hooks run as the client runs them: through the gate. What starts Python is noted."""

    def __init__(self, project: Project, session_id: str = SESSION) -> None:
        super().__init__(project, session_id)
        self.started = project.home / f"started-{session_id}"
        self.launcher = project.home / f"hook-{session_id}"
        self.python(f'exec "{sys.executable}" "$@"')

    def python(self, line: str) -> None:
        """Let a line of shell be the interpreter."""
        interpreter = self.project.home / f"python-{self.session_id}"
        interpreter.write_text(f'#!/bin/sh\n: >"{self.started}"\n{line}\n', encoding="utf-8")
        interpreter.chmod(0o755)
        self.launcher.write_bytes(launcher_text(str(interpreter), str(ROOT)))

    def gate(
        self, event: str, shell: str = "sh", *, environment: dict[str, str] | None = None, **fields: object
    ) -> Done:
        self.started.unlink(missing_ok=True)
        given = {"session_id": self.session_id, "transcript_path": str(self.path), "cwd": str(self.project.folder)}
        stdin = json.dumps({**given, "hook_event_name": event, **fields}, ensure_ascii=False, separators=(",", ":"))
        variables = {
            "CLAUDE_CODE_SESSION_ID": self.session_id,
            "CLAUDE_PROJECT_DIR": str(self.project.folder),
            **(environment or {}),
        }
        return self.project.execute([shell, str(self.launcher), event], stdin.encode(), variables)

    def is_quiet(self, prompt: str = PLAIN, shell: str = "sh", **environment: str) -> bool:
        """Whether the gate ends a prompt; it says nothing then."""
        done = self.gate("UserPromptSubmit", shell, environment=environment, prompt=prompt)
        assert done.code == 0, done
        if self.started.exists():
            return False
        assert (done.out, done.err) == ("", "")
        return True

    def told(self, prompt: str = PLAIN, **environment: str) -> str:
        """What a prompt is given."""
        done = self.gate("UserPromptSubmit", environment=environment, prompt=prompt)
        assert (done.code, self.project.log()) == (0, ""), done
        return str(json.loads(done.out)["hookSpecificOutput"]["additionalContext"]) if done.out else ""

    def begin(self) -> Gated:
        """One turn, at whose end nothing is to be told."""
        self.hook("SessionStart", "brief", source="startup")
        self.asks("Begin with the parser.")
        self.stops()
        assert self.is_quiet()
        return self

    def decides(self, text: str) -> None:
        """The agent of this session records a decision."""
        done = self.project.run(
            "decision", "add", text, "--rationale", "r", CLAUDECODE="1", CLAUDE_CODE_SESSION_ID=self.session_id
        )
        assert done.code == 0, done

    @property
    def note(self) -> Path:
        return self.project.data / "quiet" / self.session_id


@pytest.fixture
def client(project: Project) -> Gated:
    return Gated(project).begin()


@pytest.fixture
def other(client: Gated) -> Gated:
    """Another session in the same project, whose start ended the generation."""
    found = Gated(client.project, OTHER).begin()
    assert not client.is_quiet()
    client.stops()
    assert client.is_quiet()
    return found


@pytest.mark.parametrize("shell", SHELLS)
def test_a_prompt_with_nothing_to_say_is_silent_and_starts_no_python(client: Gated, shell: str) -> None:
    for prompt in (PLAIN, "次はレクサーを直して。\r\nテストも。\x1b", "x" * 100_000, 'say "accepted"', ""):
        assert client.is_quiet(prompt, shell), prompt


def test_such_a_prompt_is_archived_with_its_turn(client: Gated) -> None:
    assert client.is_quiet()
    client.write("user", PLAIN)
    client.stops()
    assert client.archived == ["Begin with the parser.", PLAIN]


@pytest.mark.parametrize("command", [("search", "walrus"), ("show", "T2")], ids=lambda command: command[0])
def test_a_command_sees_such_a_prompt_within_its_turn(client: Gated, command: tuple[str, ...]) -> None:
    assert client.is_quiet("Where does the walrus live?")
    client.write("user", "Where does the walrus live?")
    assert "walrus" in client.project.run(*command).out


MARKED = (
    *("remember: never push", "Rule: tabs", "x\r\nDECISION: SQLite\r\n", "先に。\ntodo: テスト", "accept C1"),
    *("reject C12", "x" * 100_000 + "\nremember: all of it", "accept\nC1", "Reject\tC1"),
    *("/context-compact", "/unified-state:context-compact the port"),
)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_prompt_with_words_that_the_user_marked_reaches_python_whole(client: Gated, shell: str) -> None:
    client.python("cat")  # so that none is recorded, and each meets the gate as the first did
    for prompt in MARKED:
        done = client.gate("UserPromptSubmit", shell, prompt=prompt)
        assert (client.started.exists(), json.loads(done.out)["prompt"]) == (True, prompt)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_mark_whose_letters_are_escaped_reaches_python(client: Gated, shell: str) -> None:
    client.started.unlink(missing_ok=True)
    stdin = '{"session_id":"%s","prompt":"r\\u0075le\\u003a never push"}' % client.session_id  # noqa: UP031
    variables = {"CLAUDE_CODE_SESSION_ID": client.session_id}
    assert client.project.execute([shell, str(client.launcher), "UserPromptSubmit"], stdin, variables).code == 0
    assert client.started.exists()


def test_news_of_another_session_are_told_once(client: Gated, other: Gated) -> None:
    other.decides("Use SQLite")
    assert "Use SQLite" in client.told()
    client.write("user", PLAIN)
    client.stops()
    assert client.is_quiet()
    assert not other.is_quiet()  # until its next turn ends


def test_a_warning_about_the_context_is_told(client: Gated) -> None:
    with Archive(str(client.project.archive)) as archive, archive.transaction():
        session = session_number(archive, SESSION)
        assert session is not None
        watched = UsageRecord(120_000, Limit(167_000, FROM_CLIENT), "warning", "warning", 0)
        keep_watched(archive, session, watched, "[CONTEXT] it fills up")
    assert "it fills up" in client.told()


def test_a_setting_or_another_id_than_the_session_s_own_in_the_environment_reaches_python(client: Gated) -> None:
    client.python(":")
    names = {"UNIFIED_STATE_DATA_DIR": str(client.project.home / "d"), "CLAUDE_FLOW_ANY": "1"}
    ids = [("CLAUDE_CODE_SESSION_ID", session_id) for session_id in ("", "../x", "a/b", "a b", "ä", OTHER)]
    for name, value in (*names.items(), *ids):
        assert not client.is_quiet(**{name: value}), (name, value)
    assert client.is_quiet()


def test_a_session_that_inherited_the_id_of_another_gets_its_own_lines(client: Gated, other: Gated) -> None:
    inherits = {"CLAUDE_CODE_SESSION_ID": client.session_id}
    assert not other.is_quiet(**inherits)
    client.decides("Use SQLite")
    assert "Use SQLite" in other.told(**inherits)
    assert client.told() == ""  # its own


def test_a_fork_has_no_note(client: Gated) -> None:
    fork = Gated(client.project, "aaaaaaaa-0000-4f0e-9a39-6f2c1f1f2a11")
    shutil.copy(client.path, fork.path)
    assert not fork.is_quiet()


def test_a_session_without_a_transcript_has_no_note(client: Gated) -> None:
    client.path.unlink()
    client.hook("Stop", last_assistant_message="Done.")
    assert not client.is_quiet()
    assert PLAIN in client.kept


def test_an_id_never_becomes_a_path(client: Gated) -> None:
    before = sorted(client.project.data.rglob("*"))
    client.hook("Stop", last_assistant_message="Done.")
    for session_id in ("../../escaped", "a/b", ".."):
        done = client.project.hook("Stop", session_id=session_id, transcript_path=str(client.path))
        assert done.code == 0
    assert [
        path for path in sorted(client.project.data.rglob("*")) if "quiet" in path.parts and path not in before
    ] == []


def test_a_failure_of_a_hook_keeps_the_next_prompt_from_being_quiet(client: Gated) -> None:
    runs = client.project.archive.parent / "runs"
    (runs / "PreCompact").write_text('[1,2,"it failed"]', encoding="utf-8")
    client.stops()
    assert not client.is_quiet()


def test_a_process_killed_before_its_commit_leaves_no_false_silence(client: Gated) -> None:
    code = (
        "import os, sys\nfrom unified_state.archive.archive import Archive\n"
        "with Archive(sys.argv[1]) as archive, archive.transaction():\n"
        "    archive.run(\"INSERT INTO session (session_id) VALUES ('killed')\")\n    os._exit(9)\n"
    )
    assert subprocess.run([sys.executable, "-c", code, str(client.project.archive)], check=False).returncode == 9
    assert not client.is_quiet()
    client.stops()
    assert client.is_quiet()


def test_a_stop_killed_between_its_commit_and_its_note_leaves_the_next_prompt_to_python(client: Gated) -> None:
    client.hook("PreCompact", trigger="manual")  # ends the generation; no Stop notes anything after it
    assert not client.is_quiet()


def test_a_clock_that_jumps_changes_nothing(client: Gated, other: Gated) -> None:
    def jump() -> None:
        for path in client.project.data.rglob("*"):
            os.utime(path, (time.time() - 10**8, time.time() - 10**8))

    jump()
    assert client.is_quiet()
    other.decides("Use SQLite")
    jump()
    assert "Use SQLite" in client.told()


def test_what_is_recorded_in_a_restored_backup_is_told(client: Gated, other: Gated) -> None:
    backup = client.project.home / "backup"
    shutil.copytree(client.project.data, backup)
    other.decides("Use SQLite")
    assert "Use SQLite" in client.told()
    client.stops()
    assert client.is_quiet()
    shutil.copy2(next(backup.glob("repositories/*/archive.db")), client.project.archive)
    other.decides("Use PostgreSQL")
    assert "Use PostgreSQL" in client.told()
    shutil.rmtree(client.project.data)
    shutil.copytree(backup, client.project.data)
    assert client.is_quiet()  # all of it is as it was
    other.decides("Use files")
    assert "Use files" in client.told()


def test_a_deleted_archive_reaches_python(client: Gated) -> None:
    client.project.archive.unlink()
    assert not client.is_quiet()


def test_a_home_that_was_copied_and_moved_to_has_its_own_generation(client: Gated) -> None:
    moved = client.project.home.with_name("moved-home")
    shutil.copytree(client.project.home, moved)
    assert client.is_quiet(HOME=str(moved))
    assert client.project.run("decision", "add", "Use SQLite", "--rationale", "r", HOME=str(moved)).code == 0
    assert "Use SQLite" in client.told(HOME=str(moved))
    assert not client.is_quiet(HOME=str(client.project.home / "nowhere"))


def wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.1)


def test_stop_goes_on_behind_the_clients_back(client: Gated) -> None:
    client.python(f'sleep 3\nexec "{sys.executable}" "$@"')
    client.write("user", PLAIN)
    began = time.monotonic()
    done = client.gate("Stop", last_assistant_message="The last answer, 済み。")
    assert (done, time.monotonic() - began < 2) == (Done(0, "", ""), True)
    wait_until(lambda: "The last answer, 済み。" in client.kept)
    assert client.archived[-1] == PLAIN
    wait_until(client.note.exists)  # the last that it does


@pytest.mark.parametrize(("agent_type", "waits"), [("general-purpose", False), ("", True), (None, True)])
def test_only_the_end_of_a_compaction_is_waited_for(client: Gated, agent_type: str | None, waits: bool) -> None:
    ended = client.project.home / "ended"
    client.python(f'sleep 1\n: >"{ended}"')
    fields: dict[str, Any] = {} if agent_type is None else {"agent_type": agent_type}
    client.gate("SubagentStop", last_assistant_message='they wrote "agent_type":"x"', **fields)
    assert ended.exists() == waits
    wait_until(ended.exists)  # so that nothing is written while the folder is removed


def test_an_interpreter_that_is_gone_prints_no_answer_and_blocks_nothing(client: Gated) -> None:
    client.launcher.write_bytes(launcher_text(str(client.project.home / "gone"), str(ROOT)))
    client.note.unlink()
    for event in ("SessionStart", "UserPromptSubmit", "PreCompact", "SubagentStop"):
        done = client.gate(event, prompt=PLAIN)
        assert (done.out, done.code in (126, 127)) == ("", True)  # the client blocks on 2 alone
