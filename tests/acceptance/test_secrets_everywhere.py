"""A session in which every field holds a token of its own: none of them reaches a disk, in no column and no file."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from random import Random
from string import ascii_letters, digits

import pytest

from tests.campaign.kinds.history_files import sealed, seeds

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
        ("SubagentStart", {"agent_id": "a1", "agent_type": tokens("agent type")}),
        ("SubagentStop", {"agent_id": "a1", "agent_type": tokens("agent type"), "last_assistant_message": "x"}),
        ("Stop", {"last_assistant_message": tokens("last message")}),
        ("SessionEnd", {"reason": tokens("end reason")}),
    ):
        part = "brief" if event == "SessionStart" else ""
        assert project.hook(event, part, transcript_path=str(path), **fields).code == 0


def _ids(project: Project, tokens: Tokens, path: Path) -> None:
    """The ids of hooks and of transcripts, which no client makes of secrets."""
    other = Transcript(tokens("session id"))
    other.prompt("Add a login", uuid=tokens("uuid"), parentUuid=tokens("parent"), cwd=f"/x/{tokens('folder')}")
    other.compaction("1. Next Step:\n go on", tokens("trigger in a transcript"))
    path = other.write(path.with_name("other.jsonl"))
    for event in ("UserPromptSubmit", "SubagentStop", "PreCompact", "Stop", "SessionEnd"):
        fields = {"session_id": tokens("id of a hook"), "agent_id": tokens("agent id"), "trigger": tokens("trigger")}
        assert project.hook(event, transcript_path=str(path), **fields).code == 0
    meta = {"type": "session_meta", "payload": {"id": tokens("id in Codex"), "cwd": str(project.folder)}}
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]}
    rollout = [meta, {"type": "response_item", "payload": said}]
    lines = (json.dumps({"timestamp": "2026-11-21T09:00:00Z", **line}) for line in rollout)
    path = path.with_name("rollout.jsonl")
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    assert project.run("import", str(path)).code == 0
    told = project.hook("SessionStart", "brief", source="startup")
    assert not readable_in(told.out.encode() + told.err.encode(), set(tokens.fields))


def _commands(project: Project, tokens: Tokens) -> None:
    text = tokens
    project.ask("decision", "add", text("decision"), "--rationale", text("rationale"))
    project.ask(
        "constraint", "add", text("constraint"), "--source", text("source"), "--scope", "path:x", "--mode", "ask"
    )
    question = project.ask("question", "add", text("question"), "--context", text("context"))["id"]
    project.ask("question", "resolve", question, text("resolution"))
    project.ask("evidence", "add", "--type", "error", text("evidence"), "--source", text("source of it"))
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
    _ids(project, tokens, path)
    _commands(project, tokens)
    assert tokens.readable(project) == set()
    assert tokens.fields
    if not settings:
        assert json.loads(project.run("scan", "--json").out or "{}").get("found", []) == []


def test_a_token_in_any_field_of_an_imported_history_reaches_no_disk(project: Project, tmp_path: Path) -> None:
    tokens = Tokens()
    given = [json.loads(line) for line in seeds()[0].splitlines()]
    texts = [(record, name) for record in given[1:] for name, value in record.items() if isinstance(value, str)]
    for record, name in texts:
        if name not in {"record", "kind", "status", "origin", "what", "alias"}:  # these have few values
            told = {**record, name: tokens(f"{record['record']}.{name}")}
            path = tmp_path / "history.jsonl"
            path.write_bytes(sealed(b"\n".join(json.dumps(line).encode() for line in (given[0], told))))
            assert project.run("import", str(path)).code in {0, 1}
    assert tokens.readable(project) == set()
    assert len(tokens.fields) > len(given)


def test_validate_quotes_no_secret_of_a_state_file(project: Project) -> None:
    tokens = Tokens()
    project.run("decision", "add", "a", "--rationale", "b")
    state = json.loads(project.state_path.read_text(encoding="utf-8"))
    state["decisions"][0]["id"] = tokens("id")
    for version in (state["version"], tokens("version"), f"9.{tokens('newer version')}"):
        path = project.folder / "state.json"
        path.write_text(json.dumps({**state, "version": version}), encoding="utf-8")
        done = project.run("validate", str(path))
        assert done.code != 0
        assert not readable_in((done.out + done.err).encode(), set(tokens.fields))
