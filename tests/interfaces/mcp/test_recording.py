"""The tools that record: the entries of the state file, and whose word they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builders import SESSION, prompt
from unified_state.ledger.item_table import find_item
from unified_state.ledger.rules.short_item import is_binding
from unified_state.project.workspace.workspace import open_workspace

from .asking import answer, refused, tools

Keep = Callable[..., None]
RULE = "Never push to the main branch"


def test_a_decision_is_recorded_as_the_models(repository: Path, keep: Keep) -> None:
    keep(prompt(1, "hello"))
    added = answer(repository, "add", kind="decision", text="Use SQLite", reason="one file", reversible=False)
    assert {name: added[name] for name in ("id", "decision", "rationale", "reversible", "origin", "notes")} == {
        "id": "D1",
        "decision": "Use SQLite",
        "rationale": "one file",
        "reversible": False,
        "origin": "inferred",
        "notes": [],
    }
    assert answer(repository, "show", id="D1")["session_id"] == SESSION


def test_a_question_is_asked_and_answered(repository: Path) -> None:
    assert (
        answer(repository, "add", kind="question", text="Which port?", reason="8080 is taken")["priority"] == "medium"
    )
    resolved = answer(repository, "resolve", id="Q1", text="8081")
    assert (resolved["resolved"], resolved["resolution"]) == (True, "8081")


def test_evidence_is_kept_whole_and_shown_short(repository: Path) -> None:
    added = answer(repository, "add", kind="evidence", type="output", text="x" * 2_000, reason="make")
    assert len(added["content"]) == 500
    assert answer(repository, "show", id="E1")["body"]["content"] == "x" * 2_000


def test_a_failed_attempt_is_recorded_with_its_outcome(repository: Path) -> None:
    added = answer(repository, "add", kind="attempt", text="Pin numpy 2 in setup.py", reason="setup.py breaks on 3.11")
    assert {name: added[name] for name in ("id", "attempt", "outcome", "files", "origin")} == {
        "id": "A1",
        "attempt": "Pin numpy 2 in setup.py",
        "outcome": "setup.py breaks on 3.11",
        "files": ["setup.py"],
        "origin": "inferred",
    }
    assert answer(repository, "list")["failedAttempts"][0]["id"] == "A1"


def test_of_the_work_item_what_is_not_given_stays(repository: Path) -> None:
    answer(repository, "work", id="SD-1", title="The archive")
    assert answer(repository, "work", progress=0.5) == {
        "id": "SD-1",
        "title": "The archive",
        "progress": 0.5,
        "notes": [],
    }


def test_a_todo_is_added_changed_and_done(repository: Path) -> None:
    assert answer(repository, "add", kind="todo", text="Write the test")["id"] == "N1"
    assert answer(repository, "edit", id="N1", text="Write the conflict test")["text"] == "Write the conflict test"
    assert answer(repository, "list")["summaries"]["pendingActions"] == ["Write the conflict test"]
    assert answer(repository, "resolve", id="N1")["done"] is True
    assert answer(repository, "show", id="N1")["done"] is True
    assert answer(repository, "list")["summaries"]["pendingActions"] == []


def test_the_work_has_a_goal_and_what_is_verified_and_the_restore_shows_both(repository: Path) -> None:
    answer(repository, "work", id="#12", title="Sync", goal="Two clients agree after an hour offline")
    for text in ("12 tests pass", "The load test holds"):
        proof = answer(repository, "add", kind="evidence", type="output", text=text, reason="pytest")["id"]
        answer(repository, "work", verified=proof)
    item = answer(repository, "list")["workItem"]
    assert (item["goal"], item["verified"]) == ("Two clients agree after an hour offline", ["E1", "E2"])
    text = answer(repository, "restore")["text"]
    assert "[WORK] #12 Sync\n  Goal: Two clients agree after an hour offline\n  Verified: E1 (output" in text
    answer(repository, "add", text="Merge by time")
    assert "D1 is a decision" in refused(repository, "work", verified="D1")
    assert {"goal", "verified"}.isdisjoint(answer(repository, "work", id="#13"))


def test_what_the_user_said_is_theirs_and_binds(repository: Path, keep: Keep) -> None:
    keep(prompt(1, f"Go on. {RULE}!"))
    added = answer(repository, "add", kind="constraint", text=RULE, reason="the user", blocking=True, quote=RULE)
    assert added["origin"] == "user_said"
    assert answer(repository, "show", id="C1", source=True)["quote"] == RULE


def test_what_the_user_did_not_say_is_the_models_and_does_not_bind(repository: Path, keep: Keep) -> None:
    keep(prompt(1, "Go on."))
    added = answer(repository, "add", kind="constraint", text=RULE, reason="the user", blocking=True, quote=RULE)
    assert added["origin"] == "inferred"
    assert "recorded as inferred" in added["notes"][0]
    workspace = open_workspace(str(repository), None, report=print)
    assert not is_binding(workspace.use(lambda archive: find_item(archive, "C1")))


def test_no_tool_takes_an_origin_or_a_mode(repository: Path) -> None:
    for tool in tools(repository).values():
        assert {"origin", "mode", "scope", "status"} & tool.input_schema["properties"].keys() == set()
        assert tool.input_schema["additionalProperties"] is False


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("add", {"kind": "decision"}, "text: field required"),
        ("add", {"kind": "decision", "text": " ", "reason": "y"}, "decision is empty"),
        ("add", {"kind": "decision", "text": "x", "reason": "y", "qoute": "z"}, "it takes no 'qoute'"),
        ("add", {"kind": "decision", "text": "x", "reason": "y", "origin": "user_said"}, "it takes no 'origin'"),
        ("add", {"kind": "decision", "text": "x" * 1_000_001, "reason": "y"}, "decision has 1,000,001 characters"),
        ("add", {"kind": "decision", "text": {"a": 1}, "reason": "y"}, "input should be a valid string"),
        ("add", {"kind": "question", "text": "x", "reason": "y", "priority": "urgent"}, "input should be 'high'"),
        ("add", {"kind": "evidence", "type": "novel", "text": "y", "reason": "z"}, "type: input should be"),
        ("add", {"kind": "decision", "text": "x", "reason": "y", "supersedes": "D9"}, "there is no item D9"),
        ("add", {"kind": "novel", "text": "x", "reason": "y"}, "kind: input should be"),
        ("resolve", {"id": "nonsense", "text": "x"}, "nonsense"),
        ("work", {}, "there is nothing to set"),
    ],
)
def test_a_call_that_goes_wrong_records_nothing(
    repository: Path, name: str, arguments: dict[str, object], said: str
) -> None:
    assert said in refused(repository, name, **arguments)
    workspace = open_workspace(str(repository), None, report=print)
    assert workspace.is_empty or workspace.use(lambda archive: archive.rows("SELECT 1 FROM item")) == []


def test_an_item_of_a_model_is_edited_and_dropped(repository: Path) -> None:
    answer(repository, "add", kind="decision", text="Use SQLite", reason="one file")
    edited = answer(repository, "edit", id="D1", reason="no server")
    assert edited == {"id": "D2", "status": "active", "notes": []}
    assert answer(repository, "edit", id="D2", drop=True) == {"id": "D2", "status": "dismissed", "notes": []}
    assert answer(repository, "list")["decisions"][-1]["status"] == "superseded"


def test_a_change_of_a_rule_is_only_proposed(repository: Path) -> None:
    answer(repository, "add", kind="constraint", text="Never push", reason="the user")
    proposed = answer(repository, "edit", id="C1", text="Push")
    assert (proposed["id"], proposed["status"]) == ("C2", "proposed")
    assert "inbox accept D1" in refused(repository, "edit", id="C1", drop=True)
    assert [one["constraint"] for one in answer(repository, "list")["constraints"] if "status" not in one] == [
        "Never push"
    ]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"nonsense": "x"}, "it takes no 'nonsense'"),
        ({"priority": "high"}, "a decision has no 'priority'"),
        ({"text": 5}, "input should be a valid string"),
        ({"reversible": "maybe"}, "input should be a valid boolean"),
        ({}, "there is nothing to change in D1"),
    ],
)
def test_a_wrong_change_is_refused(repository: Path, changes: dict[str, object], told: str) -> None:
    answer(repository, "add", text="Use SQLite")
    assert told in refused(repository, "edit", id="D1", **changes)
