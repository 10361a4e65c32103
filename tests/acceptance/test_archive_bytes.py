"""A byte of the archive that is no text any more, and an archive that is not this repository's.

The first is damage as any other: set aside, said, and what can be read comes back, transcripts or none. The second may
have been put there on purpose, so the user is asked.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from .conftest import Prepared
from .product import Done, Project, all_bytes
from .transcripts import Transcript

TEXTS = [f"Decision {number}: use port {8000 + number}" for number in range(8)]
TURNS = 20


def fill(project: Project, folder: Path) -> None:
    """Items and a session whose transcript is gone."""
    path = folder / "s.jsonl"
    written = Transcript("s")
    for number in range(TURNS):
        written.turn(number, size=3000)
    project.keep(written, path)
    path.unlink()
    for text in TEXTS:
        project.decide(text)


@pytest.fixture
def filled(prepared: Prepared) -> Project:
    """A project with items and a session whose transcript is gone."""
    return prepared(fill)


def other_project(folder: Path, home: Path) -> Project:
    """Another repository of the same user, with a decision of its own."""
    folder.mkdir()
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    other = Project(folder, home)
    other.decide("of the other repository")
    return other


def restored(project: Project) -> str:
    """The brief that a session start gives back."""
    done = project.hook("SessionStart", "brief", source="startup")
    assert done.code == 0
    return str(json.loads(done.out)["hookSpecificOutput"]["additionalContext"]) if done.out else ""


def test_the_archive_of_another_repository_is_asked_about_and_not_written_into(filled: Project, tmp_path: Path) -> None:
    other = other_project(tmp_path / "other", filled.home)
    (ours,) = (path for path in filled.archives if b"Decision 1" in path.read_bytes())
    (theirs,) = (path for path in filled.archives if path != ours)
    own = shutil.move(ours, tmp_path / "own.db")
    shutil.copy(theirs, ours)
    foreign = ours.read_bytes()
    command = f"unified-state config link {ours.parent.name}"

    listed = filled.run("decision", "list")
    assert (listed.code, listed.out, listed.err.count("\n"), command in listed.err) == (1, "", 1, True)
    added = filled.run("decision", "add", "meanwhile", "--rationale", "r")
    assert (added.code, command in added.err) == (0, True)
    hooked = filled.hook("UserPromptSubmit", session_id="n", prompt="kept meanwhile")
    assert hooked == Done(0, "", "")
    assert "[HEALTH]" in (brief := restored(filled))
    assert command in brief
    assert command in filled.run("doctor").out
    assert (ours.read_bytes(), set_aside_beside(ours)) == (foreign, [])

    shutil.move(own, ours)  # it was a mistake
    assert [item["decision"] for item in filled.ask("decision", "list")] == [*TEXTS, "meanwhile"]
    assert b"kept meanwhile" in all_bytes([filled.data])
    assert [item["decision"] for item in other.ask("decision", "list")] == ["of the other repository"]


def test_the_archive_of_another_repository_is_used_once_the_user_accepts_it(filled: Project, tmp_path: Path) -> None:
    other_project(tmp_path / "other", filled.home)
    (ours,) = (path for path in filled.archives if b"Decision 1" in path.read_bytes())
    (theirs,) = (path for path in filled.archives if path != ours)
    shutil.copy(theirs, ours)
    assert filled.run("decision", "add", "meanwhile", "--rationale", "r").code == 0
    assert filled.at_terminal("link", ours.parent.name).code == 0
    texts = [item["decision"] for item in filled.ask("decision", "list")]
    assert "of the other repository" in texts
    assert "meanwhile" in texts
    assert filled.run("decision", "list").err == ""


def set_aside_beside(archive: Path) -> list[Path]:
    """The archives that were set aside beside one."""
    return list(archive.parent.glob("archive.damaged-*"))
