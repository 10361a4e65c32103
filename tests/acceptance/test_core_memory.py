"""The state file keeps what matters: ids for ever, what binds stays, the budget holds, nothing is nonsense."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

from unified_state import UnifiedStateManager

from .product import Project

SECTIONS = ("decisions", "constraints", "openQuestions", "evidenceLedger")


@pytest.fixture
def manager(project: Project) -> UnifiedStateManager:
    """The API in the project."""
    return UnifiedStateManager(project.folder)


def test_an_id_names_its_item_for_ever_also_after_it_left_the_file(
    project: Project, manager: UnifiedStateManager
) -> None:
    texts = {manager.add_decision(f"{number} {'is decided ' * 30}", "r").id: number for number in range(15)}
    superseding = manager.supersede_decision("D1", "another way", "r").id
    for alias, number in texts.items():
        assert project.ask("show", alias)["body"]["decision"].startswith(f"{number} is decided")
    assert project.ask("show", "D1")["superseded_by"] == superseding


def test_what_a_session_noted_is_in_reach_when_it_has_ended(project: Project) -> None:
    UnifiedStateManager(project.folder, "first").save_state(highlights=["seen"], actions=["finish it"])
    assert project.hook("SessionEnd", session_id="first").code == 0
    UnifiedStateManager(project.folder, "second").save_state(highlights=["new"])
    assert project.state()["summaries"]["contextHighlights"] == ["new"]
    told = project.ask("load")["summaries"]
    assert (told["contextHighlights"], told["pendingActions"]) == (["seen", "new"], ["finish it"])


def test_a_compaction_keeps_every_structured_section(project: Project, manager: UnifiedStateManager) -> None:
    for number in range(5):
        manager.add_decision(f"decision {number}", "r")
    manager.add_constraint("API v1 stays", "user", blocking=True)
    manager.add_open_question("Which port?", "c")
    manager.add_evidence("error", "E: no such file", "make")
    before = {name: project.state()[name] for name in SECTIONS}
    assert project.hook("PreCompact", trigger="auto").code == 0
    assert {name: project.state()[name] for name in SECTIONS} == before
    assert project.state()["trigger"] == "precompact"


def test_a_hook_saves_a_file_over_its_budget_without_a_package(project: Project, manager: UnifiedStateManager) -> None:
    """The client starts hooks without site-packages, where an installation from a clone has them."""
    for number in range(12):
        manager.add_decision(f"{number} {'is decided ' * 30}", "r")
    alone = Project(project.folder, project.home, ("env",))  # in a process of its own
    assert alone.hook("PreCompact", trigger="auto").code == 0
    assert (project.log(), project.state()["trigger"]) == ("", "precompact")


@pytest.mark.parametrize(
    ("nonsense", "path"),
    [
        ({"decisions": "oops"}, "$.decisions"),
        ({"version": "²"}, "$.version"),
        (
            {"openQuestions": [{"id": "Q1", "question": "?", "context": "", "timestamp": "", "priority": "urgent"}]},
            "$.openQuestions[0].priority",
        ),
        (
            {"decisions": [{"id": "D99", "decision": "x", "rationale": "y", "timestamp": "2026-01-26T10:00:00Z"}]},
            "$.decisions[0].id",
        ),
        ({"timestamp": "2026-02-30T10:00:00Z"}, "$.timestamp"),
        ({"sd": 5}, "$.sd"),
        ({"version": "2.0.0", "sd": 5, "workItem": None}, "$.workItem"),
    ],
)
def test_validate_finds_nonsense_and_says_where(project: Project, nonsense: dict[str, object], path: str) -> None:
    project.decide("something")
    project.state_path.write_text(json.dumps({**project.state(), **nonsense}), encoding="utf-8")
    done = project.run("validate", "--json")
    assert done.code == 1, done
    assert path in [finding["path"] for finding in json.loads(done.out)["findings"]]


def test_the_age_is_that_of_the_save_not_of_the_last_addition_or_of_the_file(project: Project) -> None:
    assert project.run("save").code == 0
    hour = (datetime.now(UTC) - timedelta(hours=1)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    _saved_at(project, hour)
    project.decide("an addition")
    os.utime(project.state_path)
    age = project.ask("age")
    assert (round(age["ageMinutes"]), age["recent"]) == (60, False)
    assert project.run("age", "--max-age", "30").code == 1


def _saved_at(project: Project, moment: str) -> None:
    """Let the last save be of another time; nobody wants to wait for it."""
    with closing(sqlite3.connect(project.archive)) as archive, archive:
        archive.execute("UPDATE saved SET at = ?", (moment,))
