"""A Python that was built without SQLite: commands and hooks say so in one line, and the client goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from .namespaces import in_folder, mounted
from .product import Project, told_in_one_line, well_printed

EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "SubagentStart", "SubagentStop", "PreCompact", "PostCompact")


@pytest.fixture
def bare(project: Project) -> Iterator[Project]:
    """The project as it is where this Python has no SQLite."""
    import _sqlite3

    with mounted(f"mount --bind /dev/null {_sqlite3.__file__}") as prefix:
        yield Project(project.folder, project.home, in_folder(prefix, str(project.folder)))


def test_hooks_never_fail_the_turn(bare: Project, tmp_path: Path) -> None:
    for event in EVENTS:
        for path in (str(tmp_path / "none.jsonl"), "", str(tmp_path)):
            done = bare.hook(event, transcript_path=path, session_id="\ud83d/../x", prompt="a\0b", trigger="auto")
            assert done.code == 0, (event, done)
            assert well_printed(done), (event, done)
    assert "no SQLite" in bare.log()


def test_commands_say_so_in_one_line(bare: Project, project: Project) -> None:
    project.decide("before")
    for arguments in (("decision", "add", "x", "--rationale", "r"), ("search", "before"), ("decision", "list")):
        assert told_in_one_line(done := bare.run(*arguments)), (arguments, done)
        assert "no SQLite" in done.err


def test_doctor_says_so(bare: Project) -> None:
    (check,) = [check for check in json.loads(bare.run("doctor", "--json").out) if check["name"] == "tier"]
    assert not check["ok"]
    assert "no SQLite" in check["message"]


def test_install_says_so(bare: Project) -> None:
    done = bare.run("install")
    assert done.code == 0, done
    assert "this Python has no SQLite, so nothing is recorded" in done.err
