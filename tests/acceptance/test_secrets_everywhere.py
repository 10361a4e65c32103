"""A session in which every field holds a token of its own: none of them reaches a disk, in no column and no file."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from random import Random
from string import ascii_letters, digits

import pytest

from .product import Project, all_bytes
from .secrets import readable_in
from .transcripts import Transcript


class Tokens:
    """Tokens that can be told apart: the field each was put into."""

    def __init__(self) -> None:
        self.fields: dict[str, str] = {}
        self._draw = Random("tokens")

    def __call__(self, field: str) -> str:
        token = "ghp_" + "".join(self._draw.choices(ascii_letters + digits, k=35)) + "7"
        self.fields[token] = field
        return token

    def readable(self, project: Project) -> set[str]:
        """The fields whose tokens can be read in what we wrote."""
        content = all_bytes([project.data, project.state_path.parent])
        return {self.fields[token] for token in readable_in(content, set(self.fields))}


def _written(tokens: Tokens, session_id: str) -> Transcript:
    """A transcript with a token in every field that a model, a tool or a person fills."""
    written = Transcript(session_id)
    written.prompt(f"use {tokens('prompt')}")
    written.prompt([{"type": "text", "text": f"and -{tokens('prompt behind a dash')}"}])
    written.says({"type": "thinking", "thinking": tokens("thinking"), "signature": "bW9j"})
    written.text(f"\x1b[32m{tokens('answer in colour')}\x1b[0m")
    tool_input = {tokens("key of an input"): {f"x_{tokens('inner key')}": [tokens("entry of a list")]}}
    written.call("Bash", {"command": f"echo -p{tokens('command')}", **tool_input}, f"\x1b[1m{tokens('result')}\x1b[0m")
    written.call(tokens("name of a tool"), {"description": tokens("description")}, tokens("result"), error=True)
    written.call("Edit", {"file_path": f"/p/{tokens('file')}.py", "old_string": "a", "new_string": "b"}, "ok")
    written.call(
        "TodoWrite",
        {"todos": [{"content": tokens("todo"), "status": "pending", "activeForm": tokens("form of a todo")}]},
        "ok",
    )
    written.call("ExitPlanMode", {"plan": f"# Plan {tokens('title of a plan')}\n\n1. {tokens('plan')}"}, "approved")
    question = {"question": tokens("question"), "header": tokens("header"), "options": [{"label": tokens("option")}]}
    written.call("AskUserQuestion", {"questions": [question]}, f"answered {tokens('answer')}")
    written.call("Agent", {"prompt": tokens("task"), "subagent_type": tokens("type of an agent")}, "ok")
    written.compaction(f"1. Pending Tasks:\n - {tokens('summary')}\n2. Next Step:\n {tokens('next step')}")
    return written


def _hooks(project: Project, tokens: Tokens, path: Path) -> None:
    for event, fields in (
        ("SessionStart", {"source": tokens("source"), "model": tokens("model")}),
        ("UserPromptSubmit", {"prompt": tokens("prompt of the hook")}),
        ("PreCompact", {"trigger": "auto", "custom_instructions": tokens("instructions")}),
        ("PostCompact", {"trigger": tokens("trigger"), "compact_summary": tokens("summary of the hook")}),
        ("SubagentStart", {"agent_id": "a1", "agent_type": tokens("agent type")}),
        ("SubagentStop", {"agent_id": "a1", "agent_type": tokens("agent type"), "last_assistant_message": "x"}),
        ("Stop", {"last_assistant_message": tokens("last message")}),
        ("SessionEnd", {"reason": tokens("end reason")}),
    ):
        part = "brief" if event == "SessionStart" else ""
        assert project.hook(event, part, transcript_path=str(path), **fields).code == 0


def _commands(project: Project, tokens: Tokens) -> None:
    text = tokens
    project.ask("decision", "add", text("decision"), "--rationale", text("rationale"))
    project.ask(
        "constraint", "add", text("constraint"), "--source", text("source"), "--scope", "path:x", "--mode", "ask"
    )
    question = project.ask("question", "add", text("question"), "--context", text("context"))["id"]
    project.ask("question", "resolve", question, text("resolution"))
    project.ask("evidence", "add", "error", text("evidence"), "--source", text("source of it"))
    project.ask("work", "set", "--id", text("work id"), "--title", text("title"), "--phase", text("phase"))
    assert project.run("save", "--highlight", text("highlight"), "--action", text("action")).code == 0


@pytest.mark.parametrize("settings", ["", 'tier = "json"\n'])
def test_a_token_in_any_field_reaches_no_disk(project: Project, tmp_path: Path, settings: str) -> None:
    tokens = Tokens()
    own = project.home / ".config" / "unified-state" / "config.toml"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text(settings, encoding="utf-8")
    branch = f"fix/{tokens('branch')}"
    subprocess.run(["git", "checkout", "--quiet", "-b", branch], cwd=project.folder, check=True)
    commit = ["git", "commit", "--quiet", "--allow-empty", "--message", tokens("commit")]
    subprocess.run(commit, cwd=project.folder, check=True)
    (project.folder / f"{tokens('new file')}.txt").write_text("x", encoding="utf-8")
    path = _written(tokens, "s").write(tmp_path / "s.jsonl")
    _commands(project, tokens)
    _hooks(project, tokens, path)
    _commands(project, tokens)
    assert tokens.readable(project) == set()
    assert tokens.fields
    if not settings:
        assert json.loads(project.run("scan", "--json").out or "{}").get("found", []) == []
