"""The context autopilot by its hooks and commands, on transcripts whose answers tell how large the conversation is."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from .product import Done, Project
from .transcripts import Transcript


class Session:
    """A session that the client has with a model; each turn says how large the conversation has become."""

    def __init__(self, project: Project, path: Path, model: str = "claude-sonnet-4-5") -> None:
        self.project, self.path, self.model = project, path, model
        self.written = Transcript("s", cwd=str(project.folder))

    def turn(self, tokens: int, **environment: str) -> str:
        """A prompt, an answer, the hooks of both; what the prompt was told of its context."""
        self.written.prompt("go on")
        told = self._hook("UserPromptSubmit", {"prompt": "go on"}, environment)
        self.answer(tokens)
        assert self._hook("Stop", {"last_assistant_message": "done"}, environment).out == ""
        return json.loads(told.out)["hookSpecificOutput"]["additionalContext"] if told.out else ""

    def answer(self, tokens: int) -> None:
        """What the API said of the conversation."""
        usage = {"input_tokens": 3, "cache_creation_input_tokens": 0, "cache_read_input_tokens": tokens - 3}
        message = {"id": f"m{len(self.written.lines)}", "role": "assistant", "model": self.model, "content": []}
        self.written.entry("assistant", message={**message, "usage": usage})

    def compact(self, trigger: str = "auto") -> None:
        """The client cut the conversation; the first prompt after it is given the restore, which is not asked here."""
        self.written.compaction("what was done", trigger)

    def context(self) -> dict[str, Any]:
        """What the command tells."""
        found: dict[str, Any] = self.project.ask("context")
        return found

    def _hook(self, event: str, fields: dict[str, str], environment: dict[str, str]) -> Done:
        from .product import hook_command

        self.written.write(self.path)
        stdin = self.project.event(event, transcript_path=str(self.path), **fields)
        done = self.project.execute(hook_command(event), stdin, environment)
        assert (done.code, self.project.log()) == (0, "")
        return done


@pytest.fixture
def session(project: Project, tmp_path: Path) -> Session:
    return Session(project, tmp_path / "s.jsonl")


def trigger_of(project: Project) -> str | None:
    """Why the state was last saved; None where it never was."""
    with closing(sqlite3.connect(project.archive)) as archive:
        row = archive.execute("SELECT trigger FROM saved").fetchone()
    return None if row is None else row[0]


def test_each_phase_saves_the_state_and_is_told_once(session: Session) -> None:
    assert [session.turn(tokens) for tokens in (40_000, 100_000)] == ["", ""]
    assert trigger_of(session.project) is None
    told = [session.turn(tokens) for tokens in (120_000, 125_000, 145_000, 150_000, 155_000)]
    assert [line[:34] for line in told] == [
        "",
        "[CONTEXT] 72 % of the way to the n",
        "",
        "[CONTEXT] 87 % of the way to the n",
        "",
    ]
    assert session.project.state()["trigger"] == "threshold"


def test_it_can_be_switched_off(session: Session) -> None:
    off = {"UNIFIED_STATE_CONTEXT_AUTOPILOT": "off"}
    assert [session.turn(tokens, **off) for tokens in (100_000, 150_000, 155_000)] == ["", "", ""]
    assert trigger_of(session.project) is None


def test_the_command_tells_compactions(session: Session) -> None:
    for tokens in (100_000, 150_000):
        session.turn(tokens)
    session.compact("manual")
    session.turn(20_000)
    assert session.project.run("context").out.splitlines() == [
        "session    s",
        "context    20,000 of 200,000 tokens (10 %), phase ok",
        "compaction at about 167,000 tokens, by its documentation; 12 % of the way",
        "K1         manual at 150,000 tokens",
    ]


def test_the_settings_of_the_client_say_when_it_compacts(session: Session) -> None:
    session.turn(50_000)
    found = []
    of_models = {"claude-sonnet-4-5": {"autoCompactWindow": 120_000}, "claude-opus-5-5": 7}
    cases: list[dict[str, object]] = [
        {"autoCompactWindow": 150_000},
        {"autoCompactWindow": 150_000, "modelSettings": of_models},
        {"env": {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000"}},
        {"autoCompactWindow": "auto", "modelSettings": [], "env": None},
    ]
    for told in cases:
        path = session.project.folder / ".claude" / "settings.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(told), encoding="utf-8")
        context = session.context()
        found.append((context["compacts_at"], context["known_from"]))
    assert found == [(117_000, "client"), (87_000, "client"), (67_000, "client"), (167_000, "default")]


def test_the_client_tells_its_window_by_its_status_line_or_by_what_it_compacted(session: Session) -> None:
    def window() -> str:
        checks = json.loads(session.project.run("doctor", "--json").out)
        told: str = next(check["message"] for check in checks if check["name"] == "context window")
        return told

    session.model = "claude-unknown-7"
    session.turn(50_000)
    table = "200,000 tokens, as our table has for claude-unknown-7; after `install --status-line` the client says it"
    assert window() == table
    details = {"trigger": "auto", "preTokens": 400_000, "postTokens": 3_000}
    session.written.entry("system", subtype="compact_boundary", content="compacted", compactMetadata=details)
    session.turn(20_000)
    assert window() == "1,000,000 tokens, as the client says"
    status = {"session_id": "s", "context_window": {"context_window_size": 500_000, "used_percentage": 4}}
    session.project.run("statusline", stdin=json.dumps({**status, "cwd": str(session.project.folder)}))
    assert window() == "500,000 tokens, as the client says"


def test_before_anything_is_known_it_says_so(project: Project) -> None:
    assert project.run("context").err.startswith("unified-state: no session is known here yet")
    assert project.ask("context") is None
