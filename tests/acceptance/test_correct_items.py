"""What is recorded can be corrected: edited, dropped, closed, reopened, and each of these undone."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.amount import amount

from .conftest import Prepared
from .product import Done, Project
from .striking import command_struck_at, run_struck

KILLED_AT = range(2, 80, amount(6, 26))
AGENT = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s"}


def fill_recorded(project: Project, _folder: Path) -> None:
    """One item of each kind, as the user recorded them."""
    for command in (
        ("decision", "add", "Use SQLite", "--rationale", "one file"),
        ("constraint", "add", "Never push", "--source", "me"),
        ("question", "add", "Which port?", "--context", "the server"),
        ("evidence", "add", "--type", "error", "E assert 4 == 5", "--source", "pytest"),
        ("attempt", "add", "A retry loop", "--outcome", "it hung"),
    ):
        assert project.run(*command).code == 0


@pytest.fixture
def recorded(prepared: Prepared) -> Project:
    return prepared(fill_recorded)


def statuses(project: Project) -> dict[str, str]:
    done = project.run("export", "--items")
    return {item["alias"]: item["status"] for item in map(json.loads, done.out.splitlines())}


def body(project: Project, ref: str) -> dict[str, object]:
    found: dict[str, object] = project.ask("show", ref)["body"]
    return found


def ends_well(done: Done) -> str:
    assert done.code == 0, done
    return done.out.strip()


@pytest.mark.parametrize(
    ("command", "field", "value"),
    [
        (("D1", "Use PostgreSQL"), "decision", "Use PostgreSQL"),
        (("D1", "--irreversible"), "reversible", False),
        (("Q1", "--priority", "high"), "priority", "high"),
        (("A1", "--outcome", "it was slow"), "outcome", "it was slow"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else "",
)
def test_edit_changes_a_text_or_a_field_and_the_older_item_stays_recallable(
    recorded: Project, command: tuple[str, ...], field: str, value: object
) -> None:
    before = body(recorded, command[0])
    newer = ends_well(recorded.run("edit", *command))
    assert body(recorded, newer) == {**before, field: value}
    assert (body(recorded, command[0]), statuses(recorded)[command[0]]) == (before, "superseded")
    assert newer in recorded.run("load").out


def test_edit_says_what_it_did_and_what_it_cannot(recorded: Project) -> None:
    assert "nothing to change: D1 has this text" in recorded.run("edit", "D1", "Use SQLite").err
    assert "D2 takes the place of D1" in recorded.run("edit", "D1", "Use Redis").err
    done = recorded.run("edit", "D1", "Use MongoDB")
    assert (done.code, "change D2, which superseded it" in done.err) == (2, True)
    done = recorded.run("edit", "D2", "--priority", "high")
    assert (done.code, "a decision has no 'priority'" in done.err) == (2, True)
    done = recorded.run("edit", "D2")
    assert (done.code, "there is nothing to change in D2" in done.err) == (2, True)
    assert recorded.run("edit", "D2", " ").code == 2
    assert recorded.run("edit", "D9", "x").code == 1


def test_drop_keeps_the_row_and_nothing_restores_it(recorded: Project) -> None:
    for ref in ("D1", "Q1", "E1", "A1"):
        assert ends_well(recorded.run("drop", ref, "--why", "was wrong")) == ref
        assert statuses(recorded)[ref] == "dismissed"
        assert body(recorded, ref)["resolution"] == "was wrong"
        assert ref not in recorded.run("load").out
    shown = recorded.run("preview").out
    assert ("Never push" in shown, "Use SQLite" in shown) == (True, False)
    assert "D1" in recorded.run("search", "SQLite").out
    state = recorded.state()
    assert (state["decisions"], state["openQuestions"], state["evidenceLedger"]) == ([], [], [])
    done = recorded.run("drop", "D1")
    assert (done.code, "`unified-state undo D1`" in done.err) == (2, True)


def test_evidence_attempts_and_questions_can_be_closed(recorded: Project) -> None:
    assert ends_well(recorded.run("close", "Q1", "8080")) == "Q1"
    assert ends_well(recorded.run("evidence", "resolve", "E1", "fixed in abc")) == "E1"
    assert ends_well(recorded.run("attempt", "resolve", "A1")) == "A1"
    assert {ref: statuses(recorded)[ref] for ref in ("Q1", "E1", "A1")} == dict.fromkeys(("Q1", "E1", "A1"), "resolved")
    assert [body(recorded, ref)["resolution"] for ref in ("Q1", "E1", "A1")] == ["8080", "fixed in abc", "closed"]
    shown = recorded.run("preview").out
    assert not [text for text in ("Which port", "assert 4 == 5", "retry loop") if text in shown]
    done = recorded.run("close", "D1")
    assert (done.code, "`unified-state drop D1`" in done.err) == (2, True)
    assert recorded.run("close", "Q1").code == 2


def test_reopen_takes_back_a_closing_or_a_drop_later(recorded: Project) -> None:
    before = {ref: body(recorded, ref) for ref in ("D1", "Q1", "E1", "A1")}
    ends_well(recorded.run("drop", "D1"))
    for ref in ("Q1", "E1", "A1"):
        ends_well(recorded.run("close", ref, "done"))
    for ref, was in before.items():
        assert ends_well(recorded.run("reopen", ref)) == ref
        assert statuses(recorded)[ref] == "active"
        assert was.items() <= body(recorded, ref).items()
        assert "resolution" not in body(recorded, ref)
        assert ref in recorded.run("load").out
    done = recorded.run("reopen", "D1")
    assert (done.code, "D1 is active" in done.err) == (2, True)
    recorded.run("edit", "D1", "Use Redis")
    done = recorded.run("reopen", "D1")
    assert (done.code, "change D2, which superseded it" in done.err) == (2, True)


CHANGES = {
    "edit": (("edit", "D1", "Use Redis"), "D1"),
    "replacement": (("decision", "supersede", "D1", "Use Redis", "--rationale", "r"), "D1"),
    "drop": (("drop", "D1"), "D1"),
    "resolution": (("question", "resolve", "Q1", "8080"), "Q1"),
    "closing": (("close", "E1"), "E1"),
    "reopening": (("reopen", "A1"), "A1"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_undo_reverts_the_last_change_and_says_what_it_did(recorded: Project, name: str) -> None:
    command, ref = CHANGES[name]
    if name == "reopening":
        ends_well(recorded.run("close", "A1", "it works"))
    before, were = body(recorded, ref), statuses(recorded)
    ends_well(recorded.run(*command))
    told = ends_well(recorded.run("undo"))
    assert told.startswith("undone: ")
    assert f"{ref} is {were[ref]} now" in told
    assert {one: status for one, status in statuses(recorded).items() if one in were} == were
    assert before.items() <= body(recorded, ref).items()
    assert ("resolution" in body(recorded, ref)) == ("resolution" in before)


def test_a_second_undo_takes_the_change_before_and_then_there_is_nothing(project: Project) -> None:
    for command in (
        ("decision", "add", "Use SQLite", "--rationale", "one file"),
        ("evidence", "add", "--type", "error", "E assert 4 == 5", "--source", "pytest"),
        ("edit", "D1", "Use Redis"),
        ("drop", "D2"),
        ("close", "E1"),
    ):
        ends_well(project.run(*command))
    told = [ends_well(project.run("undo")).replace(", just now", "").splitlines() for _ in range(5)]
    assert told == [
        ["undone: closing", "  E1 is active now: E assert 4 == 5"],
        ["undone: drop", "  D2 is active now: Use Redis"],
        ["undone: replacement", "  D1 is active now: Use SQLite", "  D2 is dismissed now: Use Redis"],
        ["undone: addition", "  E1 is dismissed now: E assert 4 == 5"],
        ["undone: addition", "  D1 is dismissed now: Use SQLite"],
    ]
    done = project.run("undo")
    assert (done.code, "there is nothing to undo" in done.err, done.err.count("\n")) == (2, True, 1)
    assert set(statuses(project).values()) == {"dismissed"}


def test_an_edit_of_a_proposal_is_one_change(recorded: Project) -> None:
    assert recorded.run("drop", "D1", **AGENT).code == 2  # which leaves a proposal, D2
    before = statuses(recorded)
    ends_well(recorded.run("edit", "D2", "Drop SQLite", "--rationale", "two writers"))
    told = ends_well(recorded.run("undo"))
    assert "undone: acceptance" in told
    assert {ref: status for ref, status in statuses(recorded).items() if ref in before} == before
    assert "D3 is dismissed now" in told
    assert "undone: addition" in ends_well(recorded.run("undo"))
    assert statuses(recorded)["D2"] == "dismissed"
    ends_well(recorded.run("reopen", "D2"))
    assert statuses(recorded)["D2"] == "proposed"  # it was never accepted


def test_eight_undos_at_once_take_back_eight_changes(recorded: Project) -> None:
    refs = [recorded.decide(f"Decision {number}") for number in range(8)]
    before = statuses(recorded)
    for ref in refs:
        ends_well(recorded.run("drop", ref))
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda _: recorded.run("undo", "--json"), range(8)))
    assert [one.code for one in done] == [0] * 8, done
    assert sorted(json.loads(one.out)["items"][0]["id"] for one in done) == sorted(refs)
    assert statuses(recorded) == before
    assert "undone: addition" in ends_well(recorded.run("undo"))


def test_undo_leaves_what_changed_since_alone(recorded: Project) -> None:
    ends_well(recorded.run("close", "E1"))
    ends_well(recorded.run("edit", "D1", "Use Redis"))
    assert recorded.run("forget", "D2", "--yes").code == 0
    done = recorded.run("undo")
    assert (done.code, "was not undone: a forgotten item changed since" in done.err) == (2, True)
    assert "E1 is active now" in ends_well(recorded.run("undo"))


def test_an_agent_undoes_what_it_did_in_its_session_and_nothing_of_the_user(recorded: Project) -> None:
    ref = json.loads(recorded.run("decision", "add", "x", "--rationale", "y", "--json", **AGENT).out)["id"]
    ends_well(recorded.run("drop", ref, **AGENT))
    ends_well(recorded.run("drop", "D1"))
    another = {**AGENT, "CLAUDE_CODE_SESSION_ID": "another"}
    assert recorded.run("undo", **another).code == 2
    assert f"{ref} is active now" in ends_well(recorded.run("undo", **AGENT))
    assert f"{ref} is dismissed now" in ends_well(recorded.run("undo", **AGENT))
    assert recorded.run("undo", **AGENT).code == 2
    assert "D1 is active now" in ends_well(recorded.run("undo"))


@pytest.mark.parametrize("command", [("edit", "D1", "Use Redis"), ("close", "E1")], ids=" ".join)
def test_a_correction_that_is_killed_is_whole_or_not_at_all(recorded: Project, command: tuple[str, ...]) -> None:
    ref, states = command[1], set()
    for point in KILLED_AT:
        run_struck(command_struck_at(point, recorded.home, *command), recorded.folder)
        states.add(statuses(recorded)[ref])
        if statuses(recorded)[ref] != "active":
            assert f"{ref} is active now" in ends_well(recorded.run("undo")), point
        assert statuses(recorded)[ref] == "active"
    assert "active" in states
    assert "undone: addition" in ends_well(recorded.run("undo"))  # and of the corrections nothing is left
