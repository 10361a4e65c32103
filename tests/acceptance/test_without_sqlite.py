"""A Python that was built without SQLite: `install` looks for another one, and till then hooks lose nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from unified_state.agents.install.hook_table import launched

from .namespaces import in_folder, mounted
from .product import Project, all_bytes, hook_command, told_in_one_line, well_printed
from .reading import said
from .transcripts import Transcript

EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "SubagentStart", "SubagentStop", "PreCompact", "PostCompact")


@pytest.fixture
def bare(project: Project) -> Iterator[Project]:
    """The project as it is where this Python has no SQLite."""
    import _sqlite3

    with mounted(f"mount --bind /dev/null {_sqlite3.__file__}") as prefix:
        yield Project(project.folder, project.home, in_folder(prefix, str(project.folder)))


def hook(project: Project, event: str, **fields: object) -> str:
    """What a hook of this Python prints, which does its work."""
    part = "brief" if event == "SessionStart" else ""
    client = subprocess.Popen([sys.executable, "-c", ""])
    client.wait()  # which is gone, so that no transcript will ever have more
    environment = {"CLAUDE_PID": str(client.pid)}
    done = project.execute(hook_command(event, part), project.event(event, **fields), environment)
    assert well_printed(done), done
    return done.out


def test_what_hooks_were_told_is_in_the_archive_once_there_is_a_python_with_sqlite(
    bare: Project, project: Project, tmp_path: Path
) -> None:
    written, path = Transcript("s"), tmp_path / "s.jsonl"
    fields = {"transcript_path": str(path)}
    written.turn(1)
    written.write(path)
    assert "no SQLite" in hook(bare, "SessionStart", source="startup", **fields)
    secret = "hunter2" + "hunter2"
    hook(bare, "UserPromptSubmit", prompt=f"export DB_PASSWORD={secret} and go on", **fields)
    written.turn(2)
    written.write(path)
    hook(bare, "Stop", last_assistant_message="All done.", **fields)
    assert bare.archives == []
    assert "no SQLite" in bare.log()
    assert secret.encode() not in all_bytes([bare.home, bare.folder])
    for _ in range(2):
        texts = [line.get("text") for line in project.export("s")]
        assert [text for text in texts if text == "All done."] == ["All done."]
        assert len([text for text in texts if text and "export DB_PASSWORD=" in text]) == 1
    assert [line["uuids"] for line in project.export("s")][: len(said(written.content)) // 2]
    assert list(project.data.rglob("*.jsonl")) == []


def test_hooks_never_fail_the_turn(bare: Project, tmp_path: Path) -> None:
    for event in EVENTS:
        for path in (str(tmp_path / "none.jsonl"), "", str(tmp_path)):
            done = bare.hook(event, transcript_path=path, session_id="\ud83d/../x", prompt="a\0b", trigger="auto")
            assert done.code == 0, (event, done)
            assert well_printed(done), (event, done)


def test_commands_say_so_in_one_line(bare: Project, project: Project) -> None:
    project.decide("before")
    for arguments in (("decision", "add", "x", "--rationale", "r"), ("search", "before"), ("decision", "list")):
        assert told_in_one_line(done := bare.run(*arguments)), (arguments, done)
        assert "no SQLite" in done.err


def test_doctor_says_so(bare: Project) -> None:
    (check,) = [check for check in json.loads(bare.run("doctor", "--json").out) if check["name"] == "tier"]
    assert not check["ok"]
    assert "no SQLite" in check["message"]


def test_install_says_so_and_chooses_a_python_that_has_it(bare: Project, tmp_path: Path) -> None:
    other = tmp_path / "bin" / "python3"
    other.parent.mkdir()
    other.write_text('#!/bin/sh\ncase "$*" in *_sqlite3*) exit 0;; esac\nexit 1\n', encoding="utf-8")
    other.chmod(0o755)
    done = bare.run("install", PATH=f"{other.parent}{os.pathsep}{os.environ['PATH']}")
    assert done.code == 0, done
    assert f"this Python has no SQLite: the hooks are run by {other}" in done.err
    settings = json.loads((bare.folder / ".claude" / "settings.local.json").read_text(encoding="utf-8"))
    groups = [group for groups in settings["hooks"].values() for group in groups]
    assert {handler["command"] for group in groups for handler in group["hooks"]} == {str(other)}


def test_with_sqlite_install_takes_the_python_that_runs_it(project: Project) -> None:
    done = project.run("install")
    assert "SQLite" not in done.err
    settings = json.loads((project.folder / ".claude" / "settings.local.json").read_text(encoding="utf-8"))
    (handler,) = settings["hooks"]["Stop"][0]["hooks"]
    assert launched(handler["command"])[0] == sys.executable
