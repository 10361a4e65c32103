"""Texts in blocks are read, searched, exported and forgotten as all others."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from .conftest import Prepared
from .product import Project, all_bytes, archive_is_whole
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


def test_several_processes_may_group_while_others_read_and_forget(filled: Project, tmp_path: Path) -> None:
    before = filled.run("export").out
    forgotten = next(hit["ref"] for hit in filled.ask("search", WORD) if hit["ref"][0] == "S")
    with ThreadPoolExecutor() as pool:
        stops = [pool.submit(stop, filled, tmp_path / "s.jsonl") for _ in range(3)]
        vacuums = [pool.submit(filled.run, "vacuum") for _ in range(2)]
        reads = [pool.submit(filled.run, "export") for _ in range(3)]
        gone = pool.submit(filled.at_terminal, "forget", forgotten, "--yes")
        assert [one.result() for one in stops] == [None] * 3
        assert gone.result().code == 0
        vacuumed = [one.result() for one in vacuums]
        assert any(one.code == 0 for one in vacuumed), vacuumed
        lines = set(before.splitlines())
        for read in reads:
            assert read.result().code == 0
            assert len(lines.difference(read.result().out.splitlines())) <= 1  # the forgotten step
    assert len(lines.difference(filled.run("export").out.splitlines())) == 1
    assert grouped(filled) > 100
    assert archive_is_whole(filled.archive)
    assert filled.log() == ""
