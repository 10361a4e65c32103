"""What a program may correct by itself, and what it can only propose."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from unified_state import UnifiedStateManager
from unified_state.errors import NotFoundError, UsageError
from unified_state.model.constraint import USER_SAID
from unified_state.model.item import CONSTRAINT, DECISION
from unified_state.project.workspace.workspace import open_workspace
from unified_state.state_file.writer.record_state import add_item

RULE = {"constraint": "Never push", "source": "the user", "blocking": True}


@pytest.fixture
def manager(repository: Path) -> UnifiedStateManager:
    return UnifiedStateManager(repository)


@pytest.fixture
def users_words(repository: Path) -> UnifiedStateManager:
    """A manager of a project where the user recorded a rule and a decision at a terminal."""
    workspace = open_workspace(str(repository), None, report=print, origin=USER_SAID)
    add_item(workspace, CONSTRAINT, RULE)
    add_item(workspace, DECISION, {"decision": "Use SQLite", "rationale": "one file", "reversible": True})
    return UnifiedStateManager(repository)


def test_an_edit_takes_the_place_of_the_item_and_keeps_the_other_fields(manager: UnifiedStateManager) -> None:
    manager.add_decision("Use SQLite", "one fiel", reversible=False)
    edited = manager.edit("D1", rationale="one file")
    assert edited.model_dump() | {"timestamp": ""} == {
        "id": "D2",
        "decision": "Use SQLite",
        "rationale": "one file",
        "timestamp": "",
        "reversible": False,
        "origin": "inferred",
        "status": None,
    }
    assert manager.list_decisions() == [edited]


@pytest.mark.parametrize(
    ("item_id", "changes"),
    [
        ("C1", {"constraint": "Push as you like"}),
        ("C1", {"blocking": False}),
        ("C1", {"scope": {"commands": ["git push*"]}, "mode": "warn"}),
        ("D1", {"decision": "Use Postgres"}),
    ],
)
def test_an_edit_of_a_rule_or_of_the_users_word_is_only_proposed(
    users_words: UnifiedStateManager, item_id: str, changes: dict[str, Any]
) -> None:
    before = users_words.show(item_id)
    proposal = users_words.edit(item_id, **changes)
    assert (proposal.status, proposal.origin) == ("proposed", "inferred")
    assert users_words.edit(item_id, **changes) == proposal  # proposed once
    assert users_words.list_proposals() == [proposal]
    after = users_words.show(item_id)
    assert (after["status"], after["origin"], after["body"]) == ("active", "user_said", before["body"])
    links = users_words.show(proposal.id)["links"]
    assert ("changes", item_id) in [(link["relation"], link["ref"]) for link in links]


def test_a_lift_is_only_proposed(users_words: UnifiedStateManager) -> None:
    proposal = users_words.propose_lift("C1")
    assert (proposal.decision, proposal.status) == ("Lift C1: Never push", "proposed")
    assert users_words.propose_lift("C1") == proposal
    assert [one.id for one in users_words.list_constraints()] == ["C1"]
    with pytest.raises(UsageError, match="D1 is a decision, not a constraint"):
        users_words.propose_lift("D1")
    with pytest.raises(NotFoundError):
        users_words.propose_lift("C9")


def test_to_make_an_item_the_users_word_is_only_proposed(users_words: UnifiedStateManager) -> None:
    recorded = users_words.add_constraint("Keep the API", "the release", blocking=True)
    proposal = users_words.propose_accept(recorded.id)
    assert (proposal.id, proposal.status, proposal.origin) == ("C3", "proposed", "inferred")
    assert users_words.propose_accept(recorded.id) == users_words.propose_accept("C3") == proposal
    assert users_words.propose_accept("C1").id == "C1"  # it is the user's word already
    assert [(one.id, one.origin) for one in users_words.list_constraints()] == [("C1", "user_said"), ("C2", "inferred")]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "there is nothing to change in D1; it has decision, rationale, reversible"),
        ({"priority": "high"}, "a decision has no 'priority'; it has decision, rationale, reversible"),
        ({"priority": "urgent"}, "priority is 'urgent'; it should be 'high', 'medium' or 'low'"),
        ({"reversible": "no"}, "reversible is 'no'; it should be a valid boolean"),
        ({"rationale": 7}, "rationale is 7; it should be a valid string"),
        ({"rationale": " "}, "rationale is empty"),
        ({"origin": "user_said"}, "a decision has no 'origin'"),
    ],
)
def test_an_edit_that_cannot_be_made_records_nothing(
    manager: UnifiedStateManager, changes: dict[str, Any], said: str
) -> None:
    added = manager.add_decision("Use SQLite", "one file")
    with pytest.raises(UsageError) as caught:
        manager.edit("D1", **changes)
    assert said in str(caught.value)
    assert manager.list_decisions("all") == [added]
