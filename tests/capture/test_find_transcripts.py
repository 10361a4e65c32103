"""Which files a folder of an agent gives to `import`."""

from __future__ import annotations

from pathlib import Path

import pytest

from unified_state.capture.ingest import find_transcripts


@pytest.fixture
def write(tmp_path: Path) -> Path:
    for name in (
        "codex/history.jsonl",
        "codex/session_index.jsonl",
        "codex/sessions/2026/11/25/rollout-1.jsonl",
        "codex/archived_sessions/rollout-2.jsonl",
        "gemini/tmp/p/chats/session-1.jsonl",
        "gemini/tmp/p/chats/session-0.json",
        "gemini/tmp/p/logs.json",
        "claude/history.jsonl",
        "claude/projects/-a/s.jsonl",
        "claude/projects/-a/s/subagents/agent-1.jsonl",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path


@pytest.mark.parametrize(
    ("folder", "found"),
    [
        ("codex", ["archived_sessions/rollout-2.jsonl", "sessions/2026/11/25/rollout-1.jsonl"]),
        ("codex/sessions", ["2026/11/25/rollout-1.jsonl"]),
        ("gemini", ["tmp/p/chats/session-0.json", "tmp/p/chats/session-1.jsonl"]),
        ("claude", ["projects/-a/s.jsonl"]),
    ],
)
def test_a_session_below_an_agents_folder_goes_to_its_project(write: Path, folder: str, found: list[str]) -> None:
    assert find_transcripts([str(write / folder)]) == [(str(write / folder / path), True) for path in found]


def test_a_session_that_lies_in_the_folder_itself_belongs_here(write: Path) -> None:
    sessions = write / "codex/archived_sessions"
    assert find_transcripts([str(sessions)]) == [(str(sessions / "rollout-2.jsonl"), False)]
