"""Hooks that other hosts call, with what their documents say that they send; those that can be run are run elsewhere
(`tests/other_hosts`).
"""

from __future__ import annotations

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from unified_state.hosts.install.hook_launcher import launcher_path
from unified_state.hosts.transcripts.rules.hosts import FLAT, FLAT_AND_NESTED, HOSTS, NESTED, SNAKE_CASE

from .product import Done, Project

ROOT = Path(__file__).parents[2]
CODE = "# Starts a hook of unified-state.\n"
CODE += "import sys;sys.path.append(sys.argv.pop(1));from unified_state.interfaces.host_hook import main;main()"
TIME = "2026-11-22T10:14:05.573Z"
STDIN = (b"", b"\xff\xfe\x00", b'{"session_id": [], "cwd": 7}')
WITHOUT_TRANSCRIPT = [name for name, host in HOSTS.items() if host.transcript is None]


def call(project: Project, host: str, event: str, stdin: bytes | None = None, **fields: Any) -> Done:
    """Let a host call its hook."""
    named = {"conversation_id": "s1", "workspace_roots": [str(project.folder)]}
    if host != "cursor":
        named = {"session_id": "s1", "cwd": str(project.folder)}
    given = {**named, "hook_event_name": event, "timestamp": TIME, **fields}
    command = [sys.executable, "-I", "-S", "-c", CODE, str(ROOT), host, event]
    return project.execute(command, json.dumps(given).encode() if stdin is None else stdin, {})


def event_of(host: str, ours: str) -> str:
    """The name that a host has for an event of ours."""
    return next(event for event, name in HOSTS[host].events.items() if name == ours)


def context(host: str, done: Done) -> str:
    """The context in what a hook printed; anything but the host's own form of it fails."""
    if not done.out:
        return ""
    printed = json.loads(done.out)
    match HOSTS[host].emitter:
        case kind if kind == NESTED:
            (inner,) = printed.values()
            return str(inner["additionalContext"])
        case kind if kind == FLAT:
            assert list(printed) == ["additionalContext"]
        case kind if kind == SNAKE_CASE:
            assert list(printed) == ["additional_context"]
            return str(printed["additional_context"])
        case kind if kind == FLAT_AND_NESTED:
            assert printed["additionalContext"] == printed["hookSpecificOutput"]["additionalContext"]
    return str(printed["additionalContext"])


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_is_told_the_decision_at_the_start_in_its_own_form(project: Project, host: str) -> None:
    project.decide("Use SQLite for the archive")
    done = call(project, host, event_of(host, "SessionStart"), source="new")
    assert "Use SQLite for the archive" in context(host, done)
    assert (done.code, done.err, project.log()) == (0, "", "")


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_is_told_a_constraint_and_not_that_it_is_enforced(project: Project, host: str) -> None:
    start = event_of(host, "SessionStart")
    assert call(project, host, start, source="startup").code == 0
    project.run("constraint", "add", "No pushes", "--source", "us", "--scope", "command:git push", "--mode", "deny")
    speaking = HOSTS[host].context_events[-1]
    told = [call(project, host, start, source="startup", session_id="s2", conversation_id="s2")]
    told += (
        [call(project, host, speaking, prompt="go on")] if HOSTS[host].events[speaking] == "UserPromptSubmit" else []
    )
    for text in (context(host, done) for done in told):
        assert "C1 (the user said, blocking): No pushes." in text
        assert "enforced" not in text


@pytest.mark.parametrize("host", WITHOUT_TRANSCRIPT)
def test_after_a_compaction_a_host_is_given_back_what_was_lost_once(project: Project, host: str) -> None:
    project.decide("Use SQLite for the archive")
    call(project, host, event_of(host, "SessionStart"), source="startup")
    call(project, host, event_of(host, "UserPromptSubmit"), prompt="begin")
    assert call(project, host, event_of(host, "PreCompact"), trigger="auto").out == ""
    if HOSTS[host].says_compact:
        given = [call(project, host, "SessionStart", source="compact")]
    else:
        speaking = HOSTS[host].context_events[-1]
        given = [call(project, host, speaking, tool_name="x", tool_input={}) for _ in range(2)]
    told = [context(host, done) for done in given]
    assert "Use SQLite for the archive" in told[0]
    assert "given back after compaction K1" in told[0]
    assert told[1:] == [""] * (len(told) - 1)
    assert project.log() == ""


@pytest.mark.parametrize("host", WITHOUT_TRANSCRIPT)
def test_of_a_host_whose_transcript_is_unknown_prompts_and_last_answers_are_archived(
    project: Project, host: str
) -> None:
    transcript = project.folder / "events.jsonl"
    transcript.write_text('{"type": "user", "uuid": "1", "message": {"content": "x"}}\n', encoding="utf-8")
    path: dict[str, Any] = {"transcript_path": str(transcript)} if host in {"qwen", "droid"} else {}
    call(project, host, event_of(host, "UserPromptSubmit"), prompt="fix it", **path)
    call(project, host, event_of(host, "Stop"), last_assistant_message="done", **path)
    call(project, host, event_of(host, "SessionEnd"), reason="other", **path)
    assert [(step["kind"], step["text"]) for step in project.export()] == [("prompt", "fix it"), ("text", "done")]
    assert project.log() == ""


@pytest.mark.parametrize("stdin", STDIN)
def test_whatever_a_host_sends_its_hook_ends_well(project: Project, stdin: bytes) -> None:
    for host in HOSTS:
        done = call(project, host, event_of(host, "SessionStart"), stdin=stdin)
        assert (done.code, done.err) == (0, "")
        assert done.out == "" or json.loads(done.out)


def test_doctor_knows_the_hosts_installed_into(project: Project) -> None:
    for host in ("codex", "opencode", "copilot"):
        project.run("install", "--host", host)
    found = {check["name"]: check["ok"] for check in json.loads(project.run("doctor", "--json").out)}
    assert found.items() >= {"hooks (codex)": True, "hooks (opencode)": True, "hooks (copilot)": True}.items()
    assert not found.keys() & {"hooks", "hooks (vscode)", "hooks (gemini)"}
    path = project.folder / ".codex" / "hooks.json"
    path.write_text(
        path.read_text(encoding="utf-8").replace(launcher_path(), "/gone/unified-state-hook"), encoding="utf-8"
    )
    (project.folder / ".opencode" / "plugins" / "unified-state.js").unlink()
    found = {check["name"]: check["ok"] for check in json.loads(project.run("doctor", "--json").out)}
    assert found["hooks (codex)"] is False
    assert "hooks (opencode)" not in found


def test_an_unknown_host_or_event_ends_well(project: Project) -> None:
    assert call(project, "codex", "Unheard").code == 0
    unknown = call(project, "nobody", "SessionStart")
    assert (unknown.code, unknown.out) == (0, "")


def test_sessions_of_two_hosts_with_one_id_stay_apart(project: Project) -> None:
    for host in ("qwen", "droid"):
        call(project, host, "UserPromptSubmit", prompt=f"said to {host}")
    given = {"session_id": "s1", "prompt": "said to a hook of Claude Code", "timestamp": TIME}
    project.hook("UserPromptSubmit", **given)
    with closing(sqlite3.connect(project.archive)) as connection:
        sessions = {row[0] for row in connection.execute("SELECT session_id FROM session")}
    assert {"qwen:s1", "droid:s1", "other:s1"} <= sessions
    assert "s1" not in sessions


@pytest.mark.parametrize("told", [{"timestamp": TIME}, {"cursor_version": "2.1"}])
def test_a_hook_of_claude_code_that_another_host_calls_prints_no_plain_text(
    project: Project, told: dict[str, str]
) -> None:
    project.decide("Use SQLite for the archive")
    assert project.hook("PreCompact", trigger="auto").out != ""
    assert project.hook("PreCompact", trigger="auto", **told) == Done(0, "", "")
    done = project.hook("SessionStart", "brief", source="new", **told)
    assert json.loads(done.out)["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert (done.code, done.err, project.log()) == (0, "", "")
