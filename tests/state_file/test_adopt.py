from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as with_settings
from hypothesis import strategies as st

from tests.builders import NOW
from unified_state.archive.archive import Archive
from unified_state.archive.session_work import add_notes, change_work, replace_todos
from unified_state.archive.sessions import touch_session
from unified_state.ledger.correct_item import close
from unified_state.ledger.decide_proposal import accept, reject
from unified_state.ledger.item_table import forget_item, list_items
from unified_state.ledger.record_item import Author, record_item
from unified_state.ledger.waiting_notes import waiting_notes
from unified_state.lib.record import disk_value
from unified_state.model.constraint import USER_SAID
from unified_state.model.item import CONSTRAINT, DECISION, EVIDENCE, QUESTION, Todo
from unified_state.project.place import Place
from unified_state.project.workspace.workspace import Workspace
from unified_state.secrets.masker import Masker
from unified_state.state_file.writer.inspect_state import inspect_state_file
from unified_state.state_file.writer.record_state import refresh_state

BODIES: dict[str, dict[str, Any]] = {
    DECISION: {"decision": "Use SQLite", "rationale": "one file", "reversible": True},
    CONSTRAINT: {"constraint": "API v1 stays", "source": "the user", "blocking": True},
    QUESTION: {"question": "Which port?", "context": "the proxy", "priority": "low"},
    EVIDENCE: {"type": "error", "content": "boom", "source": "pytest"},
}
NOTES = {
    "sd": {"id": "SD-1"},
    "workflow": {"currentPhase": "EXEC"},
    "summaries": {"contextHighlights": ["so"], "pendingActions": ["do"], "keyDecisions": ["one", "two"]},
}
AT = "2026-01-01T00:00:00.000Z"
SECTIONS = {"decisions": "D1", "constraints": "C1", "openQuestions": "Q1", "evidenceLedger": "E1"}


@pytest.fixture
def adopted(workspace: Workspace, masker: Masker, archive: Archive) -> Callable[[], int]:
    """Write the state file of a ledger with an item of every kind; return a function that writes it again and says how
    many items the ledger has more.
    """
    for kind, body in BODIES.items():
        record_item(archive, kind, body, Author(origin=USER_SAID), now=NOW)

    def refresh() -> int:
        before = len(list_items(archive))
        refresh_state(archive, workspace, NOW)
        return len(list_items(archive)) - before

    assert refresh() == 0
    return refresh


def rewrite(place: Place, state: object) -> None:
    Path(place.state_path).write_text(json.dumps(state), encoding="utf-8")


def read(place: Place) -> dict[str, Any]:
    state: dict[str, Any] = json.loads(Path(place.state_path).read_text(encoding="utf-8"))
    return state


def test_a_file_that_only_looks_different_changes_nothing(adopted: Callable[[], int], place: Place) -> None:
    rewrite(place, read(place))
    assert adopted() == 0


@pytest.mark.parametrize(("section", "alias"), SECTIONS.items())
def test_what_an_entry_does_not_say_is_no_change(
    adopted: Callable[[], int], place: Place, section: str, alias: str
) -> None:
    main = {"decisions": "decision", "constraints": "constraint", "openQuestions": "question"}.get(section, "content")
    entry = read(place)[section][0]
    rewrite(place, {**read(place), section: [{"id": alias, main: entry[main]}]})
    assert adopted() == 0


def test_a_file_that_is_older_than_a_resolution_does_not_open_the_question_again(
    adopted: Callable[[], int], place: Place, archive: Archive, masker: Masker
) -> None:
    older = read(place)
    close(archive, "Q1", "8080", Author(origin=USER_SAID), now=NOW)
    rewrite(place, {**older, "timestamp": "2026-01-01T00:00:00.000Z"})
    assert adopted() == 0
    assert read(place)["openQuestions"][0]["resolution"] == "8080"


def test_a_proposal_is_linked_to_the_item_that_it_changes(
    adopted: Callable[[], int], place: Place, archive: Archive
) -> None:
    state = read(place)
    state["decisions"][0]["decision"] = "Use Postgres"
    rewrite(place, state)
    assert adopted() == 1
    assert archive.rows(
        "SELECT newer.alias, relation, older.alias FROM item_link "
        "JOIN item AS newer ON newer.uuid = from_uuid JOIN item AS older ON older.uuid = to_uuid"
    ) == [("D2", "changes", "D1")]


@pytest.mark.parametrize(("status", "becomes"), [("active", "active"), ("superseded", "superseded")])
def test_a_new_entry_of_a_stranger_waits_and_has_its_status_once_it_is_accepted(
    adopted: Callable[[], int], place: Place, archive: Archive, status: str, becomes: str
) -> None:
    rewrite(place, {"version": "3.0.0", "decisions": [{"decision": "other", "status": status, "origin": "user_said"}]})
    adopted()
    item = list_items(archive, DECISION)[-1]
    assert (item.alias, item.status, item.origin) == ("D2", "proposed", "inferred")
    assert [one.status for one in accept(archive, ["D2"], Author(USER_SAID), NOW)] == [becomes]


@pytest.mark.parametrize("decide", [accept, reject, None])
def test_a_file_that_comes_back_proposes_nothing_again(
    adopted: Callable[[], int], place: Place, archive: Archive, decide: Callable[..., object] | None
) -> None:
    theirs = {"version": "2.0.0", "decisions": [{"id": "D1", "decision": "other", "rationale": "r"}], **NOTES}
    rewrite(place, theirs)
    assert adopted() == 3
    told = [(one.note.kind, one.note.text) for one in waiting_notes(archive)]
    assert told[-2:] == [("highlight", "workflow: EXEC"), ("work item", '{"id":"SD-1"}')]
    if decide is not None:
        decide(archive, ["D2", "D3", "D4"], Author(USER_SAID), NOW, notes=waiting_notes(archive))
    before = waiting_notes(archive)
    rewrite(place, theirs)
    assert adopted() == 0
    assert waiting_notes(archive) == before


def test_no_key_decision_of_a_file_is_lost_or_proposed_twice(
    adopted: Callable[[], int], place: Place, archive: Archive
) -> None:
    rewrite(
        place, {**read(place), "summaries": {"keyDecisions": ["Use SQLite", 5, " ", "Deploy on Fridays", "x" * 300]}}
    )
    assert adopted() == 2
    texts = [item.body["decision"] for item in list_items(archive, DECISION)]
    assert texts == ["Use SQLite", "Deploy on Fridays", "x" * 300]


def test_what_was_forgotten_is_not_proposed_again(adopted: Callable[[], int], place: Place, archive: Archive) -> None:
    theirs = {"version": "3.0.0", "decisions": [{"decision": "other"}]}
    rewrite(place, theirs)
    assert adopted() == 1
    forget_item(archive, list_items(archive, DECISION)[-1].uuid)
    rewrite(place, theirs)
    assert adopted() == 0


def test_a_file_of_ours_whose_digest_a_killed_process_did_not_write_proposes_nothing(
    adopted: Callable[[], int], place: Place, archive: Archive
) -> None:
    for name in ("one", "two"):
        session = touch_session(archive, name, NOW, worktree=place.repository.worktree, pid=os.getpid())
        change_work(archive, session, {"workItem": {"phase": "EXEC", "title": f"do {name}", "id": name}})
        add_notes(archive, session, "highlight", [f"found by {name}"], AT)
        replace_todos(archive, session, [Todo("1", f"test {name}", "in_progress")], AT)
    adopted()
    assert set(read(place)["sessions"]) == {"one", "two"}
    before = read(place)
    os.unlink(place.digest_path)
    assert adopted() == 0
    assert (waiting_notes(archive), read(place)) == ([], before)


def test_what_a_person_adds_to_our_file_waits_and_the_rest_of_it_does_not(
    adopted: Callable[[], int], place: Place, archive: Archive
) -> None:
    add_notes(archive, None, "highlight", ["ours"], AT)
    replace_todos(archive, touch_session(archive, "s", NOW), [Todo("1", "test it", "pending")], AT)
    adopted()
    state = read(place)
    state["summaries"] = {"contextHighlights": ["ours", "theirs"], "pendingActions": ["[pending] test it", "run it"]}
    rewrite(place, state)
    assert adopted() == 0
    assert [(one.note.kind, one.note.text) for one in waiting_notes(archive)] == [
        ("highlight", "theirs"),
        ("action", "run it"),
    ]
    assert read(place)["summaries"]["contextHighlights"] == ["ours"]


odd_values = st.recursive(
    st.sampled_from(["D1", "resolved", "user_said", "2026-01-01T00:00:00Z", "", "\ud83d", "a\0b", None, True, -1])
    | st.floats()
    | st.integers()
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["id", "decision", "a"]), inner),
    max_leaves=5,
)


@st.composite
def edits(draw: st.DrawFn) -> list[tuple[list[str], object]]:
    """Fields anywhere in the file, by the path of names to them, and what stands there instead."""
    field = st.sampled_from(["id", "decision", "rationale", "status", "origin", "resolved", "blocking", "timestamp"])
    top = st.sampled_from([*SECTIONS, "git", "workItem", "workflow", "summaries", "tokenMetrics", "sessions", "x"])
    path = st.tuples(top).map(list) | st.tuples(top, field).map(list)
    return draw(st.lists(st.tuples(path, odd_values), min_size=1, max_size=4))


def edited(state: dict[str, Any], changes: list[tuple[list[str], object]]) -> dict[str, Any]:
    """The state after the changes; a field of a section is one of its first entry's where it has entries."""
    for (top, *field), value in changes:
        holder = state.get(top)
        if not field:
            state[top] = value
        elif isinstance(holder, dict):
            holder[field[0]] = value
        elif isinstance(holder, list) and holder and isinstance(holder[0], dict):
            holder[0][field[0]] = value
    return state


@with_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=edits())
def test_whatever_a_stranger_writes_into_the_file_is_a_valid_state_afterwards(
    adopted: Callable[[], int], place: Place, archive: Archive, changes: list[tuple[list[str], object]]
) -> None:
    before = [item.body for item in list_items(archive)][: len(BODIES)]
    rewrite(place, edited(read(place), changes))
    adopted()
    assert inspect_state_file(place.state_path, archive) == []
    assert adopted() == 0
    assert disk_value(before) == [item.body for item in list_items(archive)][: len(BODIES)]
