"""`doctor --items` finds what has gone bad in the items, and the command of each problem ends it."""

from __future__ import annotations

import json
import shlex
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from .product import Project
from .transcripts import Transcript

SECRET = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
KINDS = {"secrets", "stale results", "duplicates"}


def problems(project: Project) -> list[dict[str, Any]]:
    done = project.run("doctor", "--items", "--json")
    checks: list[dict[str, Any]] = json.loads(done.out)
    assert {check["name"] for check in checks} in (KINDS, set()), done
    found = [check for check in checks if not check["ok"]]
    assert done.code == bool(found), done
    return found


def ends(project: Project, kind: str) -> str:
    """Return the command of the only problem, after it was run and there is none any more."""
    (found,) = problems(project)
    assert found["name"] == kind, found
    done = project.at_terminal(*shlex.split(found["hint"])[1:])
    assert done.code == 0, done
    assert problems(project) == []
    return str(found["hint"])


def decide(project: Project, text: str, **environment: str) -> None:
    assert project.run("decision", "add", text, "--rationale", "said so", **environment).code == 0


def constrain(project: Project, text: str) -> None:
    assert project.run("constraint", "add", text, "--source", "me").code == 0


def test_items_without_faults_have_no_problem(project: Project) -> None:
    assert problems(project) == []
    decide(project, "Keep sessions in SQLite for the archive")
    decide(project, "Use port 8081 for the proxy")
    constrain(project, "Never push to main")
    assert problems(project) == []
    told = project.run("doctor", "--items").out
    assert told == "ok  duplicates     none\nok  secrets        none\nok  stale results  none\n"


def test_an_item_that_says_the_same_as_another_is_dropped(project: Project) -> None:
    decide(project, "Keep sessions in SQLite for the archive")
    decide(project, "keep  sessions in SQLite for the archive")
    assert ends(project, "duplicates") == "unified-state drop D2"
    for _ in range(2):
        assert (
            project.run("evidence", "add", "--type", "observation", "the port is taken", "--source", "lsof").code == 0
        )
    assert ends(project, "duplicates") == "unified-state resolve E2"
    for _ in range(2):
        constrain(project, "规则: 不要修改迁移文件")
    assert ends(project, "duplicates") == "unified-state drop C2"


def test_a_proposal_that_says_what_holds_already_is_rejected(project: Project) -> None:
    constrain(project, "Never push to main")
    project.run("edit", "C1", "Never push  to main", CLAUDECODE="1", CLAUDE_CODE_SESSION_ID="s")
    assert ends(project, "duplicates") == "unified-state inbox reject C2"


def test_a_result_of_tests_that_is_older_than_the_last_edit_is_closed(project: Project, tmp_path: Path) -> None:
    written = Transcript("s", cwd=str(project.folder))
    written.prompt("Run the tests.")
    written.call("Bash", {"command": "pytest -q"}, "FAILED tests/test_limits.py::test_cap - assert 4 == 5", error=True)
    path = tmp_path / "s.jsonl"
    project.keep(written, path)
    assert problems(project) == []
    edit = {"file_path": str(project.folder / "README.md"), "old_string": "a", "new_string": "b"}
    written.call("Edit", edit, "The file was updated.")
    project.keep(written, path)
    assert problems(project) == []  # no test reads it
    edit["file_path"] = str(project.folder / "tests" / "test_limits.py")
    written.call("Edit", edit, "The file was updated.")
    project.keep(written, path)
    assert ends(project, "stale results") == "unified-state resolve E1"


def test_a_secret_in_an_item_is_masked(project: Project) -> None:
    decide(project, "Keep sessions in SQLite")
    with closing(sqlite3.connect(project.archive)) as archive, archive:
        archive.execute("UPDATE item SET body = replace(body, 'SQLite', ?)", (f"SQLite, token {SECRET}",))
    assert ends(project, "secrets") == "unified-state forget --secrets"


def test_it_changes_nothing(project: Project) -> None:
    for _ in range(2):
        decide(project, "Keep sessions in SQLite")
    files = [path for path in (*project.data.rglob("*"), *project.folder.rglob("*")) if path.is_file()]
    before = {path: path.read_bytes() for path in files if not path.name.endswith(("-shm", "-wal"))}
    assert len(problems(project)) == 1
    assert {path: path.read_bytes() for path in before} == before
