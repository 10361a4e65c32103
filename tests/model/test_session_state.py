from __future__ import annotations

from pydantic import TypeAdapter

from unified_state.lib.record import disk_value
from unified_state.model.session_state import STATE_VERSION, TRIGGERS, GitState, State

EMPTY = State(version=STATE_VERSION, timestamp="2026-01-01T00:00:00.000Z", trigger="manual")
SECTIONS = ["decisions", "constraints", "openQuestions", "evidenceLedger"]


def test_the_sections_have_the_seeds_names() -> None:
    names = list(disk_value(EMPTY))
    expected = ["git", "workItem", "workflow", *SECTIONS, "summaries", "tokenMetrics"]
    assert [name for name in names if name in expected] == expected


def test_the_triggers_of_the_record_are_those_of_the_table() -> None:
    assert TypeAdapter(State).json_schema()["properties"]["trigger"]["enum"] == list(TRIGGERS)


def test_a_git_state_on_disk_has_the_seeds_names() -> None:
    git = GitState(branch="main", recent_commits=("a",), modified_files=("b",), staged_changes="1 file changed")
    assert disk_value(git) == {
        "branch": "main",
        "status": "",
        "recentCommits": ["a"],
        "modifiedFiles": ["b"],
        "stagedChanges": "1 file changed",
        "changedCount": 0,
    }
