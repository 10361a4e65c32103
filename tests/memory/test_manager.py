"""The Python API: what a program records, reads and finds, and how it is typed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.builders import NOW, SESSION, append, boundary, prompt, summary
from unified_state import Attempt, Constraint, Decision, Evidence, OpenQuestion, UnifiedStateManager
from unified_state.capture.capture_transcript import Capture
from unified_state.errors import NotFoundError, UsageError
from unified_state.model.hook_event import Moment
from unified_state.project.workspace.workspace import open_workspace

ADD: dict[type, Callable[[UnifiedStateManager], Any]] = {
    Decision: lambda manager: manager.add_decision("Use SQLite", "one file"),
    Constraint: lambda manager: manager.add_constraint("Keep the API", "the release"),
    OpenQuestion: lambda manager: manager.add_open_question("Which port?", "8000 is taken"),
    Evidence: lambda manager: manager.add_evidence("error", "E1", "make"),
    Attempt: lambda manager: manager.add_attempt("Pin numpy 2", "breaks on 3.11"),
}
LIST: dict[type, Callable[..., list[Any]]] = {
    Decision: UnifiedStateManager.list_decisions,
    Constraint: UnifiedStateManager.list_constraints,
    OpenQuestion: UnifiedStateManager.list_questions,
    Evidence: UnifiedStateManager.list_evidence,
    Attempt: UnifiedStateManager.list_attempts,
}


@pytest.fixture
def manager(repository: Path) -> UnifiedStateManager:
    return UnifiedStateManager(repository)


@pytest.mark.parametrize("kind", ADD, ids=lambda kind: str(kind.__name__))
def test_what_is_added_is_listed_by_its_kind(manager: UnifiedStateManager, kind: type) -> None:
    assert LIST[kind](manager) == []
    added = ADD[kind](manager)
    assert isinstance(added, kind)
    assert LIST[kind](manager) == LIST[kind](manager, "all") == [added]
    assert [LIST[other](manager) for other in LIST if other is not kind] == [[]] * 4


def test_a_failed_attempt_is_recorded_with_the_files_it_names(manager: UnifiedStateManager) -> None:
    attempt = manager.add_attempt("Pin numpy 2 in setup.py", "setup.py breaks on 3.11")
    assert (attempt.id, attempt.outcome, attempt.files) == ("A1", "setup.py breaks on 3.11", ("setup.py",))


def test_items_are_listed_by_status(manager: UnifiedStateManager) -> None:
    manager.add_decision("Use SQLite", "one file")
    manager.supersede_decision("D1", "Use Postgres", "a team")
    manager.add_open_question("Which port?", "8000 is taken")
    manager.resolve_question("Q1", "8001")
    assert [one.id for one in manager.list_decisions()] == ["D2"]
    assert [one.id for one in manager.list_decisions("superseded")] == ["D1"]
    assert [one.id for one in manager.list_decisions("all")] == ["D1", "D2"]
    assert manager.list_questions() == []
    assert manager.list_questions("resolved")[0].resolution == "8001"
    with pytest.raises(UsageError, match="status is 'open'; it should be 'active', 'proposed', 'superseded',"):
        manager.list_questions("open")  # type: ignore[arg-type]  # what is tested


def test_rules_that_a_summary_reports_are_listed_as_proposals(repository: Path, tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    told = "Done.\n```unified-state\nconstraint: Never push to the main branch.\n```"
    append(path, prompt(0, "go"), boundary(1), summary(2, told))
    workspace = open_workspace(str(repository), SESSION, report=print)
    workspace.use(lambda archive: Capture(archive, workspace.masker, Moment(NOW)).transcript(str(path), SESSION))
    (proposal,) = UnifiedStateManager(repository).list_proposals()
    assert isinstance(proposal, Constraint)
    assert (proposal.id, proposal.status) == ("C1", "proposed")


def test_search_finds_and_recall_shows_it_whole(manager: UnifiedStateManager) -> None:
    assert manager.search("port") == []
    manager.add_open_question("Which port?", "8000 is taken")
    manager.add_decision("Use port 8001", "it is free")
    assert {hit.ref for hit in manager.search("port")} == {"Q1", "D1"}
    (hit,) = manager.search("port", kind="decision")
    assert manager.show(hit.ref)["body"]["rationale"] == "it is free"
    with pytest.raises(UsageError, match="limit is 0"):
        manager.search("port", 0)
    with pytest.raises(NotFoundError, match="there is no item D9"):
        manager.show("D9")


def test_with_takes_a_manager_and_leaves_it_usable(repository: Path) -> None:
    with UnifiedStateManager(repository) as manager:
        manager.add_decision("Use SQLite", "one file")
    assert manager.list_decisions()[0].id == "D1"
    with pytest.raises(ZeroDivisionError), manager:
        _ = 1 / 0


def test_entries_hits_and_the_state_are_taken_by_json(manager: UnifiedStateManager) -> None:
    for add in ADD.values():
        shown = json.loads(json.dumps(add(manager).model_dump()))
        assert shown["id"]
    assert json.loads(json.dumps(manager.save_state().model_dump()))["decisions"][0]["rationale"] == "one file"
    assert json.loads(json.dumps([hit.model_dump() for hit in manager.search("SQLite")]))[0]["ref"] == "D1"
