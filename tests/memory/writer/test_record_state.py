"""Recording: the ledger changes and the state file follows, wherever the history is kept."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from unified_state.constraints.constraint_table import read_table
from unified_state.errors import NotAtGateError, NotFoundError
from unified_state.memory.ledger.item_table import PROPOSED, list_items
from unified_state.memory.ledger.waiting_notes import waiting_notes
from unified_state.memory.workspace.workspace import Workspace
from unified_state.memory.writer.correct_state import lift_constraint
from unified_state.memory.writer.record_state import add_item
from unified_state.memory.writer.save_state import refresh
from unified_state.model.item import CONSTRAINT
from unified_state.model.session_state import WorkItem
from unified_state.upkeep.merge.merge_and_settle import MERGE_AND_SETTLE

RULE = {"constraint": "Never push", "source": "the user", "blocking": False}


@pytest.mark.parametrize("tier", ["sqlite", "json"])
def test_a_refused_lift_leaves_a_proposal_in_the_ledger_and_in_the_state_file(workspace: Workspace, tier: str) -> None:
    workspace.settings.tier = tier
    add_item(workspace, CONSTRAINT, RULE)
    with pytest.raises(NotAtGateError, match="only the user lifts C1"):
        lift_constraint(workspace, "C1")
    proposals = workspace.use(lambda archive: list_items(archive, statuses=[PROPOSED]))
    assert [item.body["decision"] for item in proposals] == ["Lift C1: Never push"]
    assert "Lift C1: Never push" in Path(workspace.place.state_path).read_text(encoding="utf-8")


@pytest.mark.parametrize("tier", ["sqlite", "json"])
def test_what_somebody_writes_into_the_file_waits_wherever_the_history_is_kept(workspace: Workspace, tier: str) -> None:
    workspace.settings.tier = tier
    add_item(workspace, CONSTRAINT, RULE)
    path = Path(workspace.place.state_path)
    state = json.loads(path.read_text(encoding="utf-8"))
    for text in ("one", "two"):
        theirs = {**state, "workItem": {"id": text}, "summaries": {"pendingActions": [text]}, "new": text}
        path.write_text(json.dumps(theirs), encoding="utf-8")
        after = refresh(workspace)
        assert (after.work_item, after.summaries.pending_actions, after.unknown) == (WorkItem(), (), {})
    waiting = workspace.use(waiting_notes)
    assert [one.note.kind for one in waiting] == ["action", "work item", "field"] * 2


def test_while_the_archive_cannot_be_used_a_refused_lift_is_proposed_in_the_journal_and_merged(
    workspace: Workspace, reports: list[str]
) -> None:
    add_item(workspace, CONSTRAINT, {**RULE, "constraint": "Keep the API"})
    os.rename(workspace.place.archive_path, aside := f"{workspace.place.archive_path}.aside")
    os.mkdir(workspace.place.archive_path)  # nothing can be opened there
    assert add_item(workspace, CONSTRAINT, RULE).id == "C2"
    with pytest.raises(NotAtGateError, match="only the user lifts C2"):
        lift_constraint(workspace, "C2")
    with pytest.raises(NotFoundError, match="C1 is in the archive, which cannot be used now"):
        lift_constraint(workspace, "C1")
    assert "Lift C2: Never push" in Path(workspace.place.state_path).read_text(encoding="utf-8")
    os.rmdir(workspace.place.archive_path)
    os.rename(aside, workspace.place.archive_path)
    proposals = workspace.use(lambda archive: list_items(archive, statuses=[PROPOSED]))
    assert [item.body["decision"] for item in proposals] == ["Lift C2: Never push"]
    assert all("joins the archive once that can be used" in line for line in reports)


def test_while_the_archive_cannot_be_used_a_lift_ends_no_enforcement(workspace: Workspace) -> None:
    workspace = workspace.replace(around_use=MERGE_AND_SETTLE)
    add_item(workspace, CONSTRAINT, {**RULE, "scope": {"commands": ["git push*"]}, "mode": "ask"})
    os.unlink(workspace.place.archive_path)
    os.mkdir(workspace.place.archive_path)  # nothing can be opened there
    for ref in ("C1", "C9"):
        with pytest.raises(NotFoundError):  # not NotAtGateError: the user is not even asked
            lift_constraint(workspace, ref)
    table = read_table(workspace.place.folder)
    assert table is not None
    assert [entry.ref for entry in table.constraints] == ["C1"]


def test_an_error_of_the_action_itself_is_no_reason_for_a_journal(workspace: Workspace) -> None:
    with pytest.raises(NotFoundError):
        lift_constraint(workspace, "C9")
    assert workspace.waiting == []
