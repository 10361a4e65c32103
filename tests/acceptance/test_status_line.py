"""The status line as the client runs it: a shell command that is given JSON, whose failure would show nothing at
all.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from unified_state.hosts.install.status_line_entry import with_status_line, without_status_line

from .product import Done, Project

USAGE = {"input_tokens": 4_000, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 120_000}
WINDOW = {"context_window_size": 200_000, "current_usage": USAGE, "used_percentage": 62}
SHOWN = "███████░░░│░ 62% 124k/200k"


class StatusLine:
    """The status line that `install` put into a settings file."""

    def __init__(self, project: Project, path: Path) -> None:
        self._project, self.path = project, path

    @property
    def value(self) -> Any:
        """What stands in the settings."""
        return json.loads(self.path.read_text(encoding="utf-8")).get("statusLine")

    def install(self, scope: str = "local") -> None:
        assert self._project.run("install", "--status-line", "--scope", scope).code == 0

    def show(self, stdin: bytes, **environment: str) -> Done:
        """Run it as the client does."""
        return self._project.execute(["sh", "-c", self.value["command"]], stdin, {"NO_COLOR": "1", **environment})

    def lines(self, **environment: str) -> list[str]:
        """The lines that the client shows."""
        given_fields = {"session_id": "s", "cwd": str(self._project.folder), "context_window": WINDOW}
        done = self.show(json.dumps(given_fields).encode(), **environment)
        assert (done.code, done.err) == (0, "")
        return done.out.splitlines()


@pytest.fixture
def status(project: Project) -> StatusLine:
    return StatusLine(project, project.folder / ".claude" / "settings.local.json")


def write_settings(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_it_shows_the_context_the_items_and_how_the_memory_is_doing(project: Project, status: StatusLine) -> None:
    status.install()
    project.decide("Use SQLite")
    project.run("constraint", "add", "API v1 stays", "--source", "the user", "--blocking")
    project.run("save")
    assert status.lines() == [f"{SHOWN} · compacts at 167k · 2 items, 1 blocking · saved just now · hooks ok"]


def test_a_hook_that_failed_is_seen(project: Project, status: StatusLine) -> None:
    status.install()
    project.hook_given("Stop", b"no JSON")
    assert "! Stop failed just now" in status.lines()[0]


def test_colour_is_the_phase_and_no_color_is_honoured(status: StatusLine) -> None:
    status.install()
    assert status.lines(NO_COLOR="")[0].startswith("\x1b[33m")
    assert "\x1b" not in status.lines()[0]
    assert "\x1b" not in status.lines(NO_COLOR="", TERM="dumb")[0]


@pytest.mark.parametrize(
    "stdin",
    [
        b"",
        b"{",
        b'{"cwd": "/nowhere", "session_id": "../../x", "context_window": {"context_window_size": 1e999}}',
    ],
    ids=["empty", "half", "absurd"],
)
def test_whatever_it_is_given_it_prints_one_line(status: StatusLine, stdin: bytes) -> None:
    status.install()
    done = status.show(stdin)
    assert (done.code, done.err, done.out.count("\n")) == (0, "", 1)


def test_while_it_is_switched_off_it_says_and_keeps_nothing(project: Project, status: StatusLine) -> None:
    status.install()
    assert status.lines(UNIFIED_STATE_DISABLE="1") == []
    assert list(project.data.rglob("usage/*")) == []


def test_an_archive_that_somebody_writes_to_is_not_waited_for(project: Project, status: StatusLine) -> None:
    status.install()
    project.decide("Use SQLite")
    with closing(sqlite3.connect(project.archive, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        assert status.lines() == [f"{SHOWN} · compacts at 167k · nothing saved yet · hooks ok"]


@pytest.mark.parametrize("content", [b"no database" * 500])
def test_a_damaged_archive_breaks_nothing_and_stays_as_it_is(
    project: Project, status: StatusLine, content: bytes
) -> None:
    status.install()
    project.decide("Use SQLite")
    path = project.archive
    path.write_bytes(content)
    assert status.lines()[0].startswith(SHOWN)
    assert path.read_bytes() == content


def test_the_users_own_is_called_with_the_same_input_and_stands_above(project: Project, status: StatusLine) -> None:
    write_settings(status.path, json.dumps({"statusLine": {"type": "command", "command": "cat", "padding": 2}}))
    status.install()
    assert status.value["padding"] == 2
    theirs, ours = status.lines()
    assert json.loads(theirs)["context_window"] == WINDOW
    assert ours.startswith(SHOWN)


@pytest.mark.parametrize(
    "command",
    ["kill -9 $$", "sleep 60 & wait", "yes"],
)
def test_the_failure_of_the_users_own_is_not_ours(status: StatusLine, command: str) -> None:
    write_settings(status.path, json.dumps({"statusLine": {"type": "command", "command": command}}))
    status.install()
    assert [line[: len(SHOWN)] for line in status.lines()] == [SHOWN]


def test_one_that_ours_hides_is_found_in_the_less_specific_settings(project: Project, status: StatusLine) -> None:
    write_settings(project.home / ".claude" / "settings.json", '\ufeff{"statusLine": {"command": "echo of the user"}}')
    status.install()
    assert status.lines()[0] == "of the user"
    write_settings(project.folder / ".claude" / "settings.json", '{"statusLine": {"command": "echo of the team"}}')
    assert status.lines()[0] == "of the team"


def test_installing_again_keeps_ours_once_and_uninstalling_gives_back_what_was_there(
    project: Project, status: StatusLine
) -> None:
    command = r'''"echo \"it's\" \\ $HOME é"'''
    text = f'{{\r\n\t"statusLine": {{\r\n\t\t"command": {command},\r\n\t\t"type": "command"\r\n\t}},\r\n\t"a": 1\r\n}}'
    write_settings(status.path, text)
    before = status.path.read_bytes()
    for arguments in (["install", "--status-line"], ["install"], ["install", "--status-line"]):
        assert project.run(*arguments).code == 0
    assert len(status.lines()) == 2
    project.run("uninstall")
    assert status.path.read_bytes() == before


JSON = st.recursive(
    st.none() | st.booleans() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)


@given(st.dictionaries(st.text(), JSON), JSON)
@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_status_line_comes_back(others: dict[str, Any], value: Any) -> None:
    before = {**others, "statusLine": value, "last": 1}
    ours = with_status_line(before, "/data")
    assert list(ours) == list(before)
    assert without_status_line(ours) == (True, before)
