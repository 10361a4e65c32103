from __future__ import annotations

from pathlib import Path

import pytest

from unified_state.hosts.transcripts.transcript_lines import (
    subagent_transcripts,
    tool_result_files,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a session with one of everything in it."""
    folder = tmp_path / "projects" / "s"
    for name in ("subagents/agent-a1.jsonl", "subagents/agent-b2.jsonl", "subagents/agent-a1.meta.json"):
        _touch(folder / name)
    for name in ("tool-results/toolu_1.txt", "tool-results/b2.txt", "tool-results/hook-7-stdout.txt"):
        _touch(folder / name)
    return folder


def _touch(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()


def test_subagents_have_their_transcripts_there_each_with_its_id(folder: Path) -> None:
    found = [(Path(path).name, agent) for path, agent in subagent_transcripts(str(folder))]
    assert found == [("agent-a1.jsonl", "a1"), ("agent-b2.jsonl", "b2")]


def test_agents_of_a_workflow_have_theirs_deeper(folder: Path) -> None:
    _touch(folder / "subagents/workflows/w1/agent-c3.jsonl")
    _touch(folder / "subagents/workflows/w1/agent-c3.meta.json")
    assert [agent for _, agent in subagent_transcripts(str(folder))] == ["a1", "b2", "c3"]


def test_long_results_lie_there_and_what_hooks_printed_does_not_count(folder: Path) -> None:
    assert [Path(path).name for path in tool_result_files(str(folder))] == ["b2.txt", "toolu_1.txt"]


def test_a_link_or_a_folder_is_no_file_of_the_client(folder: Path) -> None:
    (folder / "tool-results" / "passwd").symlink_to("/etc/passwd")
    (folder / "subagents" / "agent-c3.jsonl").symlink_to("/etc/passwd")
    (folder / "subagents" / "agent-d4.jsonl").mkdir()
    assert len(tool_result_files(str(folder))) == len(list(subagent_transcripts(str(folder)))) == 2


def test_a_session_without_a_folder_has_neither(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "missing", tmp_path / "file"):
        assert (list(subagent_transcripts(str(folder))), tool_result_files(str(folder))) == ([], [])
