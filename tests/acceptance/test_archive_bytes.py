"""A byte of the archive that is no text any more, and an archive that is not this repository's.

The first is damage as any other: set aside, said, and what can be read comes back, transcripts or none. The second may
have been put there on purpose, so the user is asked.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
from contextlib import closing
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


def strike(project: Project, word: bytes, *, at: int = 0) -> bytes:
    """Make one byte of each place where a word stands in the archive one that no text has; what the file is then."""
    raw = project.archive.read_bytes()
    assert word in raw
    damaged = raw.replace(word, word[:at] + b"\xff" + word[at + 1 :])
    project.archive.write_bytes(damaged)
    return damaged


def set_aside(project: Project) -> list[bytes]:
    """The archives that were set aside."""
    return [path.read_bytes() for path in project.archive.parent.glob("archive.damaged-*.db")]


@pytest.mark.parametrize(
    ("word", "at", "first"),
    [
        (b"tableitem", 6, "decision list"),
        (b"CREATE TRIGGER item_recorded", 8, "decision add"),
        (b"tablemeta", 2, "SessionStart"),
    ],
)
def test_a_byte_of_the_schema_is_damage_and_nothing_is_lost_by_it(
    filled: Project, word: bytes, at: int, first: str
) -> None:
    before = filled.export()
    damaged = strike(filled, word, at=at)
    ways = {
        "decision list": lambda: filled.run("decision", "list"),
        "SessionStart": lambda: filled.hook("SessionStart", "brief", source="startup"),
        "decision add": lambda: filled.run("decision", "add", "more", "--rationale", "r"),
    }
    done: Done = ways[first]()
    assert (done.code, "Traceback" in done.err) == (0, False)
    assert "set aside" in (done.out if first == "SessionStart" else done.err)
    assert done.err.count("\n") == (first != "SessionStart")
    assert set_aside(filled) == [damaged]
    assert [item["decision"] for item in filled.ask("decision", "list")][: len(TEXTS)] == TEXTS
    assert filled.export() == before
    assert "[HEALTH]" in restored(filled)
    assert "archive.damaged-1.db" in filled.run("doctor").out


def test_doctor_says_that_a_byte_of_the_schema_is_damaged_and_leaves_it(filled: Project) -> None:
    damaged = strike(filled, b"tableitem", at=6)
    done = filled.run("doctor")
    assert (done.code, done.err) == (1, "")
    assert "BAD archive" in done.out
    assert "set aside at the next use" in done.out
    assert filled.archive.read_bytes() == damaged


def test_a_byte_in_the_text_of_an_item_hides_no_item_and_that_one_is_shown_as_far_as_it_can_be_read(
    filled: Project,
) -> None:
    before = filled.export()
    damaged = strike(filled, b"Decision 3: use", at=4)
    done = filled.run("decision", "list", "--json")
    shown = [item["decision"] for item in json.loads(done.out)]
    assert (done.code, done.err.count("\n"), "set aside" in done.err) == (0, 1, True)
    assert shown == [*TEXTS[:3], "Deci\ufffdion 3: use port 8003", *TEXTS[4:]]
    assert set_aside(filled) == [damaged]
    assert filled.export() == before


def test_a_byte_of_an_index_is_damage_and_hides_no_item(filled: Project) -> None:
    raw = bytearray(filled.archive.read_bytes())
    with closing(sqlite3.connect(filled.archive)) as archive:
        (root,) = archive.execute("SELECT rootpage FROM sqlite_master WHERE name = 'item_by_kind'").fetchone()
    page = (root - 1) * 4096
    raw[raw.index(b"decision", page)] ^= 0x10
    filled.archive.write_bytes(raw)
    done = filled.run("decision", "list", "--json")
    assert "set aside" in done.err
    assert [item["decision"] for item in json.loads(done.out)] == TEXTS


def test_the_archive_of_another_repository_is_asked_about_and_not_written_into(filled: Project, tmp_path: Path) -> None:
    other = other_project(tmp_path / "other", filled.home)
    (ours,) = (path for path in filled.archives if b"Decision 1" in path.read_bytes())
    (theirs,) = (path for path in filled.archives if path != ours)
    own = shutil.move(ours, tmp_path / "own.db")
    shutil.copy(theirs, ours)
    foreign = ours.read_bytes()
    command = f"unified-state link {ours.parent.name}"

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
