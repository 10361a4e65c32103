"""A damaged state file is never emptied: it is set aside whole, that is said, and the ledger writes it anew."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Prepared
from .product import Done, Project

ITEMS = ["D1", "D2", "C1", "Q1", "E1"]
WAYS: dict[str, Callable[[Project], Done]] = {
    "decision add": lambda project: project.run("decision", "add", "another one", "--rationale", "r"),
    "save": lambda project: project.run("save"),
    "load": lambda project: project.run("load"),
    "PreCompact": lambda project: project.hook("PreCompact", trigger="auto"),
}


def fill(project: Project, _folder: Path) -> None:
    """Items of every kind, of those that never leave the file."""
    for text in ("Use SQLite for Zoë's café", "Use JSON"):
        project.ask("decision", "add", text, "--rationale", "because", "--irreversible")
    project.ask("constraint", "add", "API v1 stays", "--source", "user", "--blocking")
    project.ask("question", "add", "Which port?", "--context", "8080 is taken", "--priority", "high")
    project.ask("evidence", "add", "--type", "error", "E: no such file", "--source", "make")
    assert project.run("save", "--highlight", "half way").code == 0


@pytest.fixture
def project(prepared: Prepared) -> Project:
    """A project with items of every kind, of those that never leave the file."""
    return prepared(fill)


@pytest.mark.parametrize("way", WAYS)
def test_damaged_state_files_are_set_aside_and_said_and_no_item_is_lost(project: Project, way: str) -> None:
    whole = project.state_path.read_bytes()
    cases = list(_damaged(whole).items())[list(WAYS).index(way) :: len(WAYS)]
    wrong = {name: problem for name, raw in cases if (problem := _problem(project, way, raw))}
    assert wrong == {}


def test_ids_go_on_counting_after_the_state_file_was_damaged(project: Project) -> None:
    project.state_path.write_bytes(b'{"version": "3.0.0", "decisions": [{"id"')
    assert project.decide("after the damage") == "D3"


def test_a_wiped_state_file_is_rebuilt_from_the_archive(project: Project) -> None:
    before = project.state()
    project.state_path.unlink()
    assert project.run("load").code == 0
    after = project.state()
    assert {**after, "updatedAt": before["updatedAt"]} == before


def test_what_a_damaged_file_still_says_in_readable_entries_is_not_thrown_away(project: Project) -> None:
    """One entry that is no entry does not take the others of a person's file along."""
    state = project.state()
    state["decisions"] = ["not an entry", {"decision": "Written by hand", "rationale": "in an editor"}]
    project.state_path.write_text(json.dumps(state), encoding="utf-8")
    assert project.run("load").code == 0
    texts = [item["decision"] for item in project.ask("decision", "list")]
    asides = [path.read_text(encoding="utf-8") for path in project.state_path.parent.glob("*.damaged-*.json")]
    assert "Written by hand" in texts or any("Written by hand" in text for text in asides)


def _damaged(whole: bytes) -> dict[str, bytes]:
    """A state file as crashes, disks and people leave it. What a single byte does, `one_byte.py` tries."""
    text, middle = whole.decode(), whole.index("é".encode()) + 1
    deep = json.loads("[" * 150 + "]" * 150)
    wrong = {
        "more": deep,
        "version": None,
        "decisions": "oops",
        "constraints": {"C1": "x"},
        "openQuestions": [["Q1"], None],
    }
    return {
        "empty": b"",
        "all NUL": bytes(len(whole)),
        "cut": whole[: len(whole) // 2],
        "half a character": whole[:middle],
        "half a character in a text": whole[:middle] + whole[middle + 1 :],
        "UTF-16": text.encode("utf-16"),
        "Latin-1": text.encode("latin-1", "replace"),
        "a conflict of git": b"<<<<<<< HEAD\n" + whole + b"=======\n>>>>>>> other\n",
        "a comma too many": whole.replace(b"}\n}", b"},\n}"),
        "nested": b'{"a":' * 100_000,
        "null": b"null",
        "a list": b"[]",
        **{name: json.dumps({**json.loads(whole), name: value}).encode() for name, value in wrong.items()},
    }


def _problem(project: Project, way: str, raw: bytes) -> str | None:
    """What goes wrong with one damaged file; None where all is as it should be."""
    project.state_path.write_bytes(raw)
    logged = len(project.log())
    done = WAYS[way](project)
    if done.code != 0:
        return f"exit {done.code}: {done.err}"
    shown = {entry["id"] for section in project.state().values() if isinstance(section, list) for entry in section}
    if not shown >= set(ITEMS):
        return f"only {sorted(shown)} came back"
    if raw not in [path.read_bytes() for path in project.state_path.parent.glob("*.damaged-*.json")]:
        return "it was not set aside"
    said = done.err + project.log()[logged:]
    return None if "set aside" in said else "nothing was said"
