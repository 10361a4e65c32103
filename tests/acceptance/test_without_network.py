"""Promise 2: nothing needs the network. Hooks and commands do all their work without one, and never ask for it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from benchmarks.minilm_folder import VARIABLE, minilm_folder
from tests.terminal import run_at_terminal

from .namespaces import without_network
from .product import Project, hook_command
from .reading import kept, said
from .transcripts import Transcript

EVENTS = ("SessionStart", "UserPromptSubmit", "PreCompact", "SubagentStop", "Stop", "SessionEnd")
REFUSE = """
import sys
def refuse(event, arguments):
    if event.startswith("socket."):
        raise SystemError("somebody asks for the network: " + event)
sys.addaudithook(refuse)
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A transcript with something to archive."""
    written = Transcript("s")
    for number in range(8):
        written.turn(number)
    return str(written.write(tmp_path / "s.jsonl"))


@pytest.fixture(autouse=True)
def has_minilm(monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of MiniLM lie in a folder of the user's."""
    monkeypatch.setenv(VARIABLE, minilm_folder())


def commands(path: str) -> list[tuple[str, ...]]:
    """One command line of every kind."""
    return [
        ("install",),
        ("decision", "add", "long " * 2000, "--rationale", "r", "--irreversible"),
        ("constraint", "add", "API v1 stays", "--source", "user", "--blocking"),
        ("question", "add", "Which port?", "--context", "8080 is taken"),
        ("evidence", "add", "--type", "error", "E: no such file", "--source", "make"),
        ("save",),
        ("load",),
        ("age",),
        ("validate",),
        ("import", path),
        ("export",),
        ("search", "cache"),
        ("embed",),
        ("show", "T1"),
        ("preview", "--transcript", path),
        ("status",),
        ("doctor",),
        ("config",),
        ("link",),
        ("scan",),
        ("forget", "T2", "--yes"),
        ("completion", "bash"),
        ("uninstall",),
    ]


def test_everything_works_where_there_is_no_network(project: Project, path: str) -> None:
    cut_off = Project(project.folder, project.home, without_network())
    for event in EVENTS:
        part = "brief" if event == "SessionStart" else ""
        assert cut_off.hook(event, part, transcript_path=path, source="startup").code == 0
    assert cut_off.log() == ""
    assert kept(cut_off.export("s")) == said(Path(path).read_bytes())
    assert {arguments: done for arguments in commands(path) if (done := cut_off.at_terminal(*arguments)).code} == {}


def test_a_search_by_meaning_works_where_there_is_no_network_and_asks_for_no_socket(
    project: Project, path: str
) -> None:
    cut_off = Project(project.folder, project.home, without_network())
    main = REFUSE + "from unified_state.interfaces.cli.main import main\nmain(sys.argv[1:])"
    settings = {"UNIFIED_STATE_SEARCH_VECTORS": "minilm", "HF_HUB_OFFLINE": "0"}
    for arguments in (("import", path), ("embed",), ("search", "cache")):
        done = cut_off.execute((sys.executable, "-c", main, *arguments), "", settings)
        assert (done.code, done.err) == (0, ""), done


def test_nobody_ever_asks_for_a_socket(project: Project, path: str) -> None:
    for event in EVENTS:
        command = hook_command(event)
        code = command.index("-c") + 1
        watched = [*command[:code], REFUSE + command[code], *command[code + 1 :]]
        assert project.execute(watched, project.event(event, transcript_path=path), {}).code == 0
    assert project.log() == ""
    main = REFUSE + "from unified_state.interfaces.cli.main import main\nmain(sys.argv[1:])"
    for arguments in commands(path):
        done = run_at_terminal((sys.executable, "-c", main, *arguments), project.folder, os.environ)
        assert (done.code, done.err.count(b"network")) == (0, 0), (arguments, done)
