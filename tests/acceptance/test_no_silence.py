"""Where nothing of a session is archived, `doctor`, `status` or one line at a session's start says so."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from .product import Project
from .transcripts import Transcript


def told(project: Project) -> str:
    """What `doctor` finds wrong with archiving."""
    checks = json.loads(project.run("doctor", "--json").out)
    return "; ".join(check["message"] for check in checks if check["name"] == "archiving" and not check["ok"])


def status(project: Project) -> str:
    """What `status` says."""
    done = project.run("status")
    return done.out + done.err


@pytest.mark.parametrize("is_used", [True, False])
def test_switched_off_hooks_of_the_client_are_told(project: Project, *, is_used: bool) -> None:
    if is_used:
        project.decide("x")
    assert "nothing is archived" not in told(project) + status(project)
    path = project.folder / ".claude" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text('{"disableAllHooks": true}', encoding="utf-8")
    assert told(project) == f"nothing is archived: disableAllHooks in {path}"
    assert told(project) in status(project)
    path.with_name("settings.local.json").write_text('{"disableAllHooks": false}', encoding="utf-8")
    assert told(project) == ""


def test_a_project_that_switches_it_off_is_told(project: Project) -> None:
    path = project.folder / ".claude" / "unified-state.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text("enabled = false\n", encoding="utf-8")
    assert told(project) == f"nothing is archived: enabled = false ({path})"
    assert told(project) in status(project)
    brief, second = (project.hook("SessionStart", part, source="startup").out for part in ("brief", "working_set"))
    line = "unified-state: nothing is archived here: enabled = false in .claude/unified-state.toml"
    assert (json.loads(brief), second) == ({"systemMessage": line}, "")
    assert project.hook("Stop", last_assistant_message="x").out == ""


def test_sessions_of_a_client_that_ran_no_hook_are_told(project: Project, tmp_path: Path) -> None:
    project.keep(Transcript("s", cwd=str(project.folder)), tmp_path / "s.jsonl")
    name = "".join(sign if sign.isalnum() else "-" for sign in str(project.folder))
    folder = project.home / ".claude" / "projects" / name
    folder.mkdir(parents=True)
    written = Transcript("other", cwd=str(project.folder))
    written.prompt("hello")
    path = written.write(folder / "other.jsonl")
    assert told(project) == ""  # it goes on, perhaps
    later = time.time() + 3_600
    os.utime(path, (later, later))
    assert told(project) == f"newer sessions here that ran no hook of ours: 1, the last one is {path}"
    assert project.run("import", str(path)).code == 0
    assert told(project) == ""


def test_without_a_transcript_prompts_and_answers_are_archived_and_it_is_told(project: Project) -> None:
    gone = {"transcript_path": str(project.folder / "none.jsonl")}
    project.hook("UserPromptSubmit", prompt="Never touch KOALA/.", **gone)
    project.hook("Stop", last_assistant_message="KOALADONE", **gone)
    project.hook("SessionEnd", reason="other", **gone)
    assert [(step["kind"], step["text"]) for step in project.export()] == [
        ("prompt", "Never touch KOALA/."),
        ("text", "KOALADONE"),
    ]
    assert "kept no transcript" in status(project)
    assert "install --tool-calls" in status(project)
    brief = json.loads(project.hook("SessionStart", "brief", source="startup", session_id="next").out)
    assert "kept no transcript" in brief["hookSpecificOutput"]["additionalContext"]


BATCH = [
    {
        "tool_name": "Bash",
        "tool_input": {"command": "cat .env"},
        "tool_use_id": "toolu_1",
        "tool_response": "PASSWORD=hunter2abc9",
    },
    {
        "tool_name": "Bash",
        "tool_input": {"command": "pytest -q"},
        "tool_use_id": "toolu_2",
        "tool_response": "Exit code 1\nFAILED tests/test_koala.py::test_it - assert 1 == 2",
    },
]


def test_tool_calls_without_a_transcript_are_archived_if_that_is_installed(project: Project) -> None:
    project.run("install", "--tool-calls")
    gone = {"transcript_path": str(project.folder / "none.jsonl")}
    for prompt in ("first", "second"):
        project.hook("UserPromptSubmit", prompt=prompt, **gone)
        calls = [{**call, "tool_use_id": f"{call['tool_use_id']}{prompt}"} for call in BATCH]
        project.hook("PostToolBatch", tool_calls=calls, **gone)
        project.hook("PostToolBatch", tool_calls=calls, **gone)  # told twice, archived once
        project.hook("Stop", last_assistant_message=f"{prompt} done", **gone)
    project.hook("SessionEnd", reason="other", **gone)
    steps = project.export()
    kinds = ["prompt", "tool_call", "tool_call", "tool_result", "tool_result", "text"]
    assert [step["kind"] for step in steps] == kinds * 2
    assert [steps[2]["input"], steps[4]["result"]] == [{"command": "pytest -q"}, BATCH[1]["tool_response"]]
    assert [step["is_error"] for step in steps if step["kind"] == "tool_result"] == [False, True] * 2
    assert "hunter2abc9" not in json.dumps(steps)
    assert "test_koala" in project.run("list", "evidence").out
    assert "kept no transcript" not in status(project)
    assert project.log() == ""


def test_with_a_transcript_the_calls_are_archived_from_it_alone(project: Project, tmp_path: Path) -> None:
    written = Transcript("s", cwd=str(project.folder))
    written.prompt("first")
    path = str(written.write(tmp_path / "s.jsonl"))
    project.hook("PostToolBatch", tool_calls=BATCH, transcript_path=path)
    project.hook("PreCompact", transcript_path=path, trigger="auto")
    assert [step["kind"] for step in project.export()] == ["prompt"]


def test_calls_of_a_subagent_and_odd_ones_are_left_out(project: Project) -> None:
    for fields in ({"agent_id": "a1", "tool_calls": BATCH}, {"tool_calls": [7, {}, {"tool_use_id": 7}]}, {}):
        assert project.hook("PostToolBatch", transcript_path="/none.jsonl", **fields).out == ""
    assert (project.run("export").out, project.log()) == ("", "")
