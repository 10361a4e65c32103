"""The note of a status line: while the archive is as it was, its figures come from there, and never are stale."""

from __future__ import annotations

import json
import os
import shlex
import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from .product import Project

pytestmark = [pytest.mark.usefixtures("own_interpreters"), pytest.mark.usefixtures("no_settings")]

SESSION = "11111111-2222-4333-8444-555555555555"
ONE_ITEM = " · compacts at 167k · 1 item · saved just now · hooks ok"


class Session:
    """A session with our status line. Its archive has one decision and was saved."""

    def __init__(self, project: Project) -> None:
        self.project = project
        assert project.run("install", "--status-line").code == 0
        project.decide("Use SQLite")
        project.run("save")
        self.note = project.data / "ways" / f"{SESSION}.status"

    @property
    def command(self) -> str:
        """The command in the client's settings."""
        path = self.project.folder / ".claude" / "settings.local.json"
        return str(json.loads(path.read_text(encoding="utf-8"))["statusLine"]["command"])

    def input(self, tokens: int) -> bytes:
        window = {"context_window_size": 200_000, "current_usage": {"input_tokens": tokens}}
        given = {"session_id": SESSION, "cwd": str(self.project.folder), "context_window": window}
        return json.dumps(given).encode()

    def line(self, tokens: int = 124_000, **environment: str) -> str:
        """What the client shows."""
        variables = {"NO_COLOR": "1", **environment}
        done = self.project.execute(["sh", "-c", self.command], self.input(tokens), variables)
        assert (done.code, done.err) == (0, "")
        return done.out

    def noted(self) -> str:
        """The line after which there is a note; a commit within the last milliseconds has none yet."""
        for _ in range(100):
            line = self.line()
            if self.note.exists():
                return line
            time.sleep(0.02)
        pytest.fail("no note was written")

    def uses_note(self, tokens: int = 124_000) -> bool:
        """Whether a line takes the items from the note: the archive is locked meanwhile."""
        with closing(sqlite3.connect(self.project.archive, isolation_level=None)) as writer:
            writer.execute("BEGIN EXCLUSIVE")
            return " item" in self.line(tokens)


@pytest.fixture
def session(project: Project) -> Session:
    return Session(project)


@pytest.mark.parametrize("tokens", [1, 50_000, 116_899, 116_900, 141_950, 167_000, 250_000])
def test_the_line_of_a_note_is_that_of_the_archive(session: Session, tokens: int) -> None:
    session.noted()
    by_note = session.line(tokens, NO_COLOR="")
    assert session.uses_note(tokens)
    session.note.unlink()
    assert session.line(tokens, NO_COLOR="") == by_note


def test_nothing_is_stale_after_another_process_changed_an_item(session: Session) -> None:
    assert session.noted().endswith(f"{ONE_ITEM}\n")
    assert session.uses_note()
    session.project.run("constraint", "add", "API v1 stays", "--source", "the user", "--blocking")
    assert " 2 items, 1 blocking " in session.line()
    session.project.at_terminal("constraint", "lift", "C1")
    assert " 1 item " in session.line()
    session.project.run("forget", "D1", "--yes")
    assert " 0 items " in session.line()


def test_no_line_is_stale_while_another_process_commits(session: Session) -> None:
    session.noted()
    for number in range(2, 12):
        session.project.decide(f"Decision {number}")
        assert f" {number} items " in session.line()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[" * 100_000,
        b"\xff\xfe",
        b"null",
        b"[1]",
        b'{"format": 1}',
        b'{"format": 99}',
        b"x" * (1 << 21),
    ],
    ids=["empty", "half", "deep", "bytes", "null", "list", "fields", "later", "large"],
)
def test_a_damaged_note_changes_no_line(session: Session, content: bytes) -> None:
    before = session.noted()
    session.note.write_bytes(content)
    assert session.line() == before
    assert session.uses_note()


@pytest.mark.parametrize(
    "change",
    [
        {"counts": []},
        {"counts": {"items": "\x1b[31m", "no_such": 1}},
        {"bounds": None},
        {"points": [[1]]},
        {"left": []},
        {"compacts_at": 0, "points": {}},
        {"way": {}},
        {"stamp": None},
        {"saved_at": "x"},
    ],
    ids=str,
)
def test_a_note_of_another_shape_breaks_no_line(session: Session, change: dict[str, Any]) -> None:
    session.noted()
    note = json.loads(session.note.read_bytes())
    session.note.write_text(json.dumps({**note, **change}), encoding="utf-8")
    assert session.line().count("\n") == 1


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo], ids=["folder", "pipe"])
def test_what_is_no_file_in_the_place_of_a_note_is_not_waited_for(
    session: Session, make: Callable[[Path], None]
) -> None:
    before = session.noted()
    session.note.unlink()
    make(session.note)
    assert session.line() == before


def test_a_note_that_names_a_folder_elsewhere_is_not_followed(session: Session, tmp_path: Path) -> None:
    session.noted()
    note = json.loads(session.note.read_bytes())
    (tmp_path / "usage").mkdir()
    usage = tmp_path / "usage" / f"{SESSION}.json"
    usage.write_text("[1,2,3]", encoding="utf-8")
    note["way"]["folder"] = str(tmp_path)
    session.note.write_text(json.dumps(note), encoding="utf-8")
    assert session.line().endswith(f"{ONE_ITEM}\n")
    assert usage.read_text(encoding="utf-8") == "[1,2,3]"


def test_a_data_folder_that_cannot_be_written_to_changes_no_line(session: Session) -> None:
    before = session.noted()
    session.note.unlink()
    session.note.parent.rmdir()
    session.note.parent.write_text("no folder", encoding="utf-8")
    assert session.line() == before


def test_before_there_is_an_archive_there_is_no_note(project: Project) -> None:
    assert project.run("install", "--status-line").code == 0
    session = object.__new__(Session)
    session.project = project
    assert "nothing saved yet" in session.line()
    assert list(project.data.rglob("*.status")) == []


def test_a_session_that_is_switched_off_shows_nothing(session: Session) -> None:
    session.noted()
    assert session.line(UNIFIED_STATE_DISABLE="1") == ""
    config = session.project.home / ".config" / "unified-state" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("enabled = false\n", encoding="utf-8")
    assert session.line() == ""


def test_settings_that_change_count_at_once(session: Session) -> None:
    session.noted()
    assert session.line(60_000, NO_COLOR="").startswith("\x1b[32m")
    project = session.project.folder / ".claude" / "unified-state.toml"
    project.write_text("context_warning = 20\n", encoding="utf-8")
    assert session.line(60_000, NO_COLOR="").startswith("\x1b[33m")


def test_variables_of_the_client_count_at_once(session: Session) -> None:
    session.noted()
    assert " compacts at 200k " in session.line(DISABLE_AUTO_COMPACT="1")
    assert " compacts at 167k " in session.line()


def test_the_users_own_line_appears_above_as_soon_as_there_is_one(session: Session) -> None:
    ours = session.noted()
    path = session.project.home / ".claude" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text('{"statusLine": {"command": "echo of the user"}}', encoding="utf-8")
    assert session.line() == f"of the user\n{ours}"


def test_a_hook_that_failed_is_seen_at_once(session: Session) -> None:
    session.noted()
    session.project.hook_given("Stop", b"no JSON")
    assert "! Stop failed just now" in session.line()


def test_the_clients_figures_are_kept(session: Session) -> None:
    session.noted()
    assert session.uses_note(130_000)
    (usage,) = session.project.data.rglob(f"usage/{SESSION}.json")
    assert json.loads(usage.read_bytes())[:2] == [130_000, 200_000]


def test_another_folder_does_not_use_the_note(session: Session, tmp_path: Path) -> None:
    session.noted()
    other = tmp_path / "other"
    other.mkdir()
    given = json.loads(session.input(1_000))
    raw = json.dumps({**given, "cwd": str(other)}).encode()
    assert " item" not in session.project.execute(["sh", "-c", session.command], raw, {"NO_COLOR": "1"}).out


def test_eight_at_once_show_the_same(session: Session) -> None:
    session.noted()
    expected = session.line()
    for _ in range(3):
        session.note.unlink()
        running = [
            subprocess.Popen(
                ["sh", "-c", session.command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "HOME": str(session.project.home), "NO_COLOR": "1"},
                cwd=session.project.folder,
            )
            for _ in range(8)
        ]
        assert {process.communicate(session.input(124_000))[0].decode() for process in running} == {expected}


def test_a_client_that_keeps_its_end_open_gets_the_line(session: Session) -> None:
    expected = session.noted()
    with subprocess.Popen(
        shlex.split(session.command),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "HOME": str(session.project.home), "NO_COLOR": "1"},
        cwd=session.project.folder,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(session.input(124_000))
        process.stdin.flush()
        assert process.stdout.read().decode() == expected


def test_purge_removes_the_note(session: Session) -> None:
    session.noted()
    assert session.project.run("uninstall", "--purge").code == 0
    assert not session.note.exists()
