"""State files that others wrote: a person's editor, an earlier version, a newer one, somebody else's commit."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from .conftest import Prepared
from .product import Project

GOLDEN = Path(__file__).parents[1] / "data" / "golden"
OF_THE_MOMENT = ("repository", "timestamp", "updatedAt", "trigger", "git", "tokenMetrics", "sessions")
Edit = Callable[[dict[str, Any]], object]


def fill_known(project: Project, _folder: Path) -> None:
    """An item of every kind."""
    project.ask("decision", "add", "Use SQLite", "--rationale", "one file")
    project.ask("constraint", "add", "API v1 stays", "--source", "user")
    project.ask("question", "add", "Which port?", "--context", "8080 is taken")
    project.ask("evidence", "add", "--type", "error", "E: no such file", "--source", "make")
    assert project.run("save").code == 0


@pytest.fixture
def known(prepared: Prepared) -> Project:
    """A project with an item of every kind."""
    return prepared(fill_known)


def test_no_message_about_a_foreign_file_shows_a_secret_in_it(known: Project, tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    edit(known, lambda state: state.update(trigger=secret))
    checked = known.run("validate")
    lines = [
        {"format": "unified-state history", "version": 1, "project": "theirs"},
        {
            "record": "step",
            "sessionId": "h",
            "uuid": "u",
            "block": 0,
            "kind": "text",
            "text": "x",
            "at": 0,
            "isError": secret,
        },
    ]
    body = "".join(f"{json.dumps(line)}\n" for line in lines)
    end = {"record": "end", "records": 1, "sha256": sha256(body.encode()).hexdigest()}
    history = tmp_path / "history.jsonl"
    history.write_text(f"{body}{json.dumps(end)}\n", encoding="utf-8")
    imported = known.run("import", str(history))
    assert "'isError' cannot be '[MASKED github-token" in imported.err
    assert "[MASKED github-token" in checked.out
    assert (checked.code, imported.code > 0) == (1, True)
    assert secret not in checked.out + checked.err + imported.out + imported.err


def edit(project: Project, change: Edit) -> None:
    """Change the state file as a person would."""
    state = json.loads(project.state_path.read_text(encoding="utf-8"))
    change(state)
    project.state_path.write_text(json.dumps(state, indent=4, ensure_ascii=False), encoding="utf-8")


def items(project: Project) -> dict[str, dict[str, Any]]:
    """All items that the ledger shows, by their ids."""
    kinds = ("decision", "constraint", "question", "evidence")
    return {item["id"]: item for kind in kinds for item in project.ask(kind, "list", "--all")}


@pytest.mark.parametrize("version", ["1.0.0", "2.0.0"])
def test_a_state_file_of_the_seed_is_taken_over_with_all_it_says(project: Project, version: str) -> None:
    project.state_path.parent.mkdir()
    project.state_path.write_bytes((GOLDEN / f"v{version}.json").read_bytes())
    assert project.run("load").code == 0
    assert project.at_terminal("inbox", "accept", "--all", str(project.state_path)).code == 0
    state = {name: value for name, value in project.state().items() if name not in OF_THE_MOMENT}
    expected = json.loads((GOLDEN / f"v{version}.migrated.json").read_text(encoding="utf-8"))
    for section in ("decisions", "constraints", "openQuestions", "evidenceLedger"):
        for entry, wanted in zip(state[section], expected[section], strict=True):
            status = {} if wanted["status"] == "proposed" else {"status": wanted["status"]}
            taken = {**{name: value for name, value in wanted.items() if name != "status"}, "origin": "user_said"}
            assert entry == {"timestamp": entry["timestamp"], **taken, **status}
        del state[section], expected[section]
    expected["summaries"]["keyDecisions"] = state["summaries"]["keyDecisions"]
    flow = expected.pop("workflow")
    expected["summaries"]["contextHighlights"].append(f"workflow: {flow['currentPhase']}, {flow['lastHandoff']}")
    del state["workflow"]
    assert state == {name: value for name, value in expected.items() if name in state}


def test_the_user_may_refuse_all_of_a_file(project: Project) -> None:
    project.state_path.parent.mkdir()
    project.state_path.write_bytes((GOLDEN / "v2.0.0.json").read_bytes())
    assert project.at_terminal("inbox", "reject", "--all", str(project.state_path)).code == 0
    assert project.ask("inbox") == []
    assert {item["status"] for item in items(project).values()} == {"dismissed"}


@pytest.mark.parametrize("words", [("/etc/passwd",), ("a.json", "b.json")])
def test_all_takes_a_state_file_of_this_project_and_no_other(known: Project, words: tuple[str, ...]) -> None:
    done = known.run("inbox", "accept", "--all", *words)
    assert (done.code, done.err.count("\n")) == (2, 1), done


@pytest.mark.parametrize(
    ("section", "entry"),
    [
        ("decisions", {"id": "D9", "decision": "By hand", "rationale": "in an editor"}),
        ("openQuestions", {"id": "nonsense", "question": "By hand", "priority": "urgent"}),
    ],
)
def test_what_a_person_writes_into_the_file_comes_in_as_proposed(
    known: Project, section: str, entry: dict[str, Any]
) -> None:
    before = items(known)
    edit(known, lambda state: state[section].append(entry))
    assert known.run("load").code == 0
    new = {alias: item for alias, item in items(known).items() if alias not in before}
    (item,) = new.values()
    assert ("By hand" in item.values(), item["status"], item["origin"]) == (True, "proposed", "inferred")
    assert before.items() <= items(known).items()
    assert known.run("load").code == 0
    assert len(items(known)) == len(before) + 1


@pytest.mark.parametrize(
    ("section", "change"),
    [
        ("decisions", {"decision": "Use Postgres"}),
        ("decisions", {"status": "superseded"}),
        ("constraints", {"blocking": True}),
        ("openQuestions", {"resolved": True, "resolution": "8081"}),
    ],
)
def test_what_a_person_changes_in_the_file_is_proposed_and_changes_nothing_by_itself(
    known: Project, section: str, change: dict[str, Any]
) -> None:
    before = items(known)
    edit(known, lambda state: state[section][0].update(change))
    assert known.run("load").code == 0
    (proposed,) = (item for alias, item in items(known).items() if alias not in before)
    assert proposed["status"] == "proposed"
    assert before.items() <= items(known).items()


def test_what_is_absent_from_the_file_deletes_nothing(known: Project) -> None:
    before = items(known)
    empty: dict[str, list[object]] = {
        name: [] for name in ("decisions", "constraints", "openQuestions", "evidenceLedger")
    }
    edit(known, lambda state: state.update(empty))
    assert known.run("load").code == 0
    assert items(known) == before
    edit(known, lambda state: [state["decisions"][0].pop(name) for name in ("rationale", "timestamp", "origin")])
    assert known.run("load").code == 0
    assert items(known) == before
    edit(known, lambda state: [state.pop(name) for name in empty])
    known.decide("another")
    assert before.items() <= items(known).items()
    assert known.state()["decisions"][0]["decision"] == "Use SQLite"
