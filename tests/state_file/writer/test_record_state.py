"""Recording: the ledger changes and the state file follows, wherever the history is kept."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from unified_state.constraints.constraint_table import read_table
from unified_state.errors import ArchiveUnavailableError, NotAtGateError, NotFoundError
from unified_state.ledger.item_table import PROPOSED, list_items
from unified_state.ledger.waiting_notes import waiting_notes
from unified_state.lib.times import current_time
from unified_state.lib.tokens import count_tokens
from unified_state.model.item import CONSTRAINT, DECISION
from unified_state.model.session_state import WorkItem
from unified_state.project.workspace.workspace import Workspace
from unified_state.state_file.writer.correct_state import lift_constraint
from unified_state.state_file.writer.record_state import add_item
from unified_state.state_file.writer.save_state import refresh
from unified_state.upkeep.around_use import SETTLE
from unified_state.upkeep.forget.forget_refs import ForgetRequest, forget

RULE = {"constraint": "Never push", "source": "the user", "blocking": False}
CHOICE = {"decision": "Use Go", "rationale": "r", "reversible": True}


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
    assert [one.note.kind for one in waiting] == ["action", "work item"] * 2


def test_while_the_archive_cannot_be_used_an_item_waits_and_nothing_else_is_acknowledged(
    workspace: Workspace, reports: list[str]
) -> None:
    add_item(workspace, CONSTRAINT, {**RULE, "constraint": "Keep the API"})
    with unusable(workspace):
        waiting = add_item(workspace, CONSTRAINT, RULE)
        for ref in ("C1", waiting.id):
            with pytest.raises(ArchiveUnavailableError):
                lift_constraint(workspace, ref)
    items = workspace.use(list_items)
    assert [(item.alias, item.uuid == waiting.id) for item in items] == [("C1", False), ("C2", True)]
    assert workspace.waiting == []
    assert all("joins the archive once that can be used" in line for line in reports)


@contextmanager
def unusable(workspace: Workspace) -> Iterator[None]:
    os.rename(workspace.place.archive_path, aside := f"{workspace.place.archive_path}.aside")
    os.mkdir(workspace.place.archive_path)  # nothing can be opened there
    yield
    os.rmdir(workspace.place.archive_path)
    os.rename(aside, workspace.place.archive_path)


def test_while_the_archive_cannot_be_used_a_lift_ends_no_enforcement(workspace: Workspace) -> None:
    workspace = workspace.replace(around_use=SETTLE)
    add_item(workspace, CONSTRAINT, {**RULE, "scope": {"commands": ["git push*"]}, "mode": "ask"})
    with unusable(workspace):
        for ref in ("C1", "C9"):
            with pytest.raises(ArchiveUnavailableError):  # not NotAtGateError: the user is not even asked
                lift_constraint(workspace, ref)
    table = read_table(workspace.place.folder)
    assert table is not None
    assert [entry.ref for entry in table.constraints] == ["C1"]


def test_what_was_taken_in_and_forgotten_does_not_come_back_with_a_file_that_stayed(workspace: Workspace) -> None:
    add_item(workspace, DECISION, CHOICE)
    with unusable(workspace):
        add_item(workspace, DECISION, {**CHOICE, "decision": "Use Rust"})
    content = Path(workspace.waiting[0]).read_bytes()
    path = Path(workspace.waiting[0])
    for _ in range(2):  # as where a process is killed before it removes the file
        path.write_bytes(content)
        assert [item.alias for item in workspace.use(list_items)] == ["D1", "D2"]
    forget(workspace, current_time(), ForgetRequest(ref="D2"))
    path.write_bytes(content)
    assert [item.alias for item in workspace.use(list_items)] == ["D1"]


def test_a_line_of_waiting_events_that_the_disk_has_changed_is_set_aside_and_told(
    workspace: Workspace, reports: list[str]
) -> None:
    add_item(workspace, CONSTRAINT, {**RULE, "constraint": "Keep the API"})
    with unusable(workspace):
        add_item(workspace, CONSTRAINT, RULE)
    path = Path(workspace.waiting[0])
    path.write_bytes(b'{"item":"decision"}\n{{\n' + path.read_bytes() + b'{"at":1,"ite')
    assert [item.alias for item in workspace.use(list_items)] == ["C1", "C2"]
    assert "3 lines of" in reports[-1]
    assert path.with_name("events.damaged-1.jsonl").exists()
    assert workspace.waiting == []


def test_an_error_of_the_action_itself_lets_nothing_wait(workspace: Workspace) -> None:
    with pytest.raises(NotFoundError):
        lift_constraint(workspace, "C9")
    assert workspace.waiting == []


def test_a_file_that_may_exceed_its_budget_names_no_fewer_tokens_than_it_has(workspace: Workspace) -> None:
    path = Path(workspace.place.state_path)
    for number in range(12):
        add_item(workspace, DECISION, {**CHOICE, "decision": f"{number} use 日本語 and a1b2c3d4e5f6, always, {number}"})
    text = path.read_text(encoding="utf-8")
    assert count_tokens([text])[0] <= json.loads(text)["tokenMetrics"]["estimatedTokens"]
