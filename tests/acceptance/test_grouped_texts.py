"""Texts in blocks are read, searched, exported and forgotten as all others."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from .conftest import Prepared
from .product import Project, all_bytes
from .transcripts import Transcript

TURNS = 150
WORD = "xzvquixoticmauk"


def fill(project: Project, folder: Path) -> None:
    """A session that hooks archived, with a rare word in its tenth turn."""
    written = Transcript("s", cwd=str(project.folder))
    for number in range(TURNS):
        if number == 10:
            written.prompt(f"remember the {WORD}")
        written.turn(number, size=700)
    project.keep(written, folder / "s.jsonl")


@pytest.fixture
def filled(prepared: Prepared) -> Project:
    """A project with a session of many turns."""
    return prepared(fill)


def grouped(project: Project) -> int:
    with closing(sqlite3.connect(project.archive)) as archive:
        (count,) = archive.execute("SELECT count(*) FROM step WHERE typeof(body) = 'integer'").fetchone()
    return int(count)


def stop(project: Project, path: Path) -> None:
    assert project.hook("Stop", session_id="s", transcript_path=str(path), last_assistant_message="Done.").code == 0


def test_the_end_of_a_turn_groups_texts_and_nothing_reads_differently(filled: Project, tmp_path: Path) -> None:
    commands = (("export",), ("search", WORD), ("show", "T11"), ("show", "S30"))
    before = [filled.run(*command).out for command in commands]
    assert WORD in before[1]
    assert grouped(filled) == 0
    stop(filled, tmp_path / "s.jsonl")
    assert grouped(filled) > 100
    after = [filled.run(*command).out for command in commands]
    assert after[0].startswith(before[0].rstrip("\n"))
    assert after[1:] == before[1:]
    assert filled.log() == ""


def test_a_forgotten_text_leaves_no_byte_in_a_block_or_elsewhere(filled: Project, tmp_path: Path) -> None:
    stop(filled, tmp_path / "s.jsonl")
    assert grouped(filled) > 100
    (tmp_path / "s.jsonl").unlink(missing_ok=True)
    before = filled.run("export").out
    assert filled.at_terminal("forget", "--match", WORD, "--yes").code == 0
    after = filled.run("export").out
    assert WORD not in after
    assert len(after) > 0.9 * len(before)
    assert WORD.encode() not in all_bytes([filled.data])
    assert filled.ask("search", WORD) == []
    assert grouped(filled) > 100


def test_vacuum_groups_what_is_left_and_an_export_stays_the_same(filled: Project) -> None:
    before = filled.run("export").out
    assert filled.run("vacuum").code == 0
    assert grouped(filled) > 100
    assert filled.run("export").out == before
