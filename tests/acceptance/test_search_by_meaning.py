"""Search by meaning as its users have it: `embed` away from the hooks, killed, twice at once, on a full disk; and what
happens where its packages are missing.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks.minilm_folder import VARIABLE, minilm_folder
from tests.amount import amount
from unified_state.lib.package import extra_line

from .product import PROGRAM, Project, archive_is_whole
from .striking import command_struck_at, run_struck
from .transcripts import Transcript

MEANING = {"UNIFIED_STATE_SEARCH_VECTORS": "minilm"}
TURNS = 12
WITHOUT = (
    "import sys; sys.modules['numpy'] = None; from unified_state.interfaces.cli.main import main; main(sys.argv[1:])"
)


@pytest.fixture(autouse=True)
def has_minilm(monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of MiniLM lie in a folder of the user's."""
    monkeypatch.setenv(VARIABLE, minilm_folder())


@pytest.fixture
def archived(project: Project, tmp_path: Path) -> Project:
    """A project with a session of some steps."""
    written = Transcript("s")
    written.prompt("the login page is broken")
    for number in range(TURNS):
        written.turn(number)
    project.ask("import", str(written.write(tmp_path / "s.jsonl")))
    return project


def missing(project: Project) -> int:
    """How many steps with a text have no vector."""
    (count,) = project.ask("status")["vectors"]
    return len([step for step in project.export() if step.get("text") != ""]) - int(count["steps"])


def test_embed_then_search_finds_what_was_said_in_other_words(archived: Project) -> None:
    assert archived.ask("search", "users cannot sign in") == []
    done = archived.ask("embed")
    assert done["vectors"] == done["added"] > 2 * TURNS
    found = archived.run("search", "users cannot sign in", **MEANING)
    assert "the login page is broken" in found.out.splitlines()[0]
    assert found.err == ""


def test_the_model_keeps_and_sends_nothing_about_the_user(archived: Project) -> None:
    """onnxruntime has telemetry, with an id of the device in a folder of its own in the home."""
    archived.ask("embed")
    assert [path for path in archived.home.rglob("*") if "onnxruntime" in path.name] == []


def test_a_killed_run_leaves_a_whole_archive_and_the_next_one_does_the_rest(archived: Project) -> None:
    for point in range(1, 200, amount(9, 60)):
        killed = run_struck(
            command_struck_at(point, archived.archive.parent, "embed", "--limit", "14"),
            archived.folder,
        )
        assert killed in {0, -9}
    assert archive_is_whole(archived.archive)
    done = archived.ask("embed")
    assert archive_is_whole(archived.archive)
    assert missing(archived) == 0
    assert done["vectors"] <= done["steps"]


def test_doctor_tells_what_a_search_by_meaning_lacks(archived: Project) -> None:
    def check(*command: str) -> tuple[bool, str]:
        done = archived.execute([*command, "doctor", "--json"], "", MEANING)
        (found,) = [check for check in json.loads(done.out) if check["name"] == "search by meaning"]
        return found["ok"], found["hint"] or found["message"]

    assert check(*PROGRAM) == (False, "`unified-state embed` makes them")
    archived.ask("embed")
    assert check(*PROGRAM) == (True, "by the model minilm")
    assert check(sys.executable, "-c", WITHOUT) == (False, extra_line("vectors"))
    assert "search by meaning" not in archived.run("doctor").out
