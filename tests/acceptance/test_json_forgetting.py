"""Forgetting where the history lies in files of JSON: what a ref names goes, all of it, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from .product import Project, all_bytes
from .transcripts import Transcript

CALLS = 700  # of one turn: 2,100 steps, more than are read at once


@pytest.fixture
def chosen(project: Project, write_settings: Callable[[str], None]) -> Project:
    """The project with the tier chosen."""
    write_settings('tier = "json"\n')
    return project


def summaries(project: Project, *numbers: int) -> list[str]:
    return [project.ask("show", f"K{number}")["summary"].rpartition("\n")[2] for number in numbers]


def test_a_compaction_keeps_its_ref_whichever_others_are_forgotten_and_none_is_given_twice(
    chosen: Project, tmp_path: Path
) -> None:
    written, path = Transcript("s"), tmp_path / "s.jsonl"
    for number in range(1, 5):
        written.turn(number)
        written.compaction(f"summary {number}")
    chosen.keep(written, path)
    assert summaries(chosen, 1, 2, 3, 4) == ["summary 1", "summary 2", "summary 3", "summary 4"]
    assert chosen.ask("forget", "K1", "--yes")["summaries"] == 1
    assert summaries(chosen, 2, 3, 4) == ["summary 2", "summary 3", "summary 4"]
    assert chosen.ask("forget", "K4", "--yes")["summaries"] == 1
    written.turn(5)
    written.compaction("summary 5")
    chosen.keep(written, path)
    assert summaries(chosen, 2, 3, 5) == ["summary 2", "summary 3", "summary 5"]
    assert all("summary" not in (chosen.ask("show", f"K{number}")["summary"] or "") for number in (1, 4))
    assert summaries(chosen, 2, 3, 5) == ["summary 2", "summary 3", "summary 5"]
    assert all("summary" not in (chosen.ask("show", f"K{number}")["summary"] or "") for number in (1, 4))


def test_a_turn_of_any_length_is_recalled_and_forgotten_whole(chosen: Project, tmp_path: Path) -> None:
    written = Transcript("s")
    written.prompt("first")
    written.prompt("a long turn")
    for number in range(CALLS):
        written.says({"type": "text", "text": f"swordfish {number}"})
        written.call("Bash", {"command": f"echo swordfish {number}"}, "ok")
    written.prompt("last")
    chosen.keep(written, tmp_path / "s.jsonl")
    assert len(chosen.ask("show", "T2")["steps"]) == 1 + 3 * CALLS
    assert chosen.ask("forget", "T2", "--yes")["steps"] == 1 + 3 * CALLS
    assert chosen.ask("search", "swordfish") == []
    assert [line["text"] for line in chosen.export()] == ["first", "last"]


def test_a_forgotten_session_leaves_the_state_file_too(chosen: Project, tmp_path: Path) -> None:
    written = Transcript("s")
    written.prompt("hello")
    chosen.keep(written, tmp_path / "s.jsonl")
    here = {"CLAUDE_CODE_SESSION_ID": "s"}
    assert chosen.run("work", "set", "--title", "The swordfish", **here).code == 0
    assert chosen.run("save", "--highlight", "half a swordfish", "--action", "go fishing", **here).code == 0
    chosen.ask("forget", "--session", "s", "--yes")
    (tmp_path / "s.jsonl").unlink()
    for word in (b"swordfish", b"fishing"):
        assert word not in all_bytes([chosen.home, chosen.folder])


def test_all_of_a_session_is_forgotten_though_the_clock_went_back(chosen: Project, tmp_path: Path) -> None:
    written = Transcript("s")
    written.prompt("the swordfish")
    written.compaction("it is about a swordfish", "auto")
    written.lines = [line.replace(b'"timestamp":"2026', b'"timestamp":"2999') for line in written.lines]
    assert b"2999" in written.content
    chosen.keep(written, tmp_path / "s.jsonl")
    done = chosen.ask("forget", "--session", "s", "--yes")
    assert (done["steps"], done["summaries"]) == (1, 2)  # the hook that announced the compaction, and its boundary
    assert chosen.export() == []


def test_what_was_forgotten_without_sqlite_never_enters_the_archive(
    chosen: Project, tmp_path: Path, write_settings: Callable[[str], None]
) -> None:
    written, path = Transcript("s"), tmp_path / "s.jsonl"
    written.prompt("go")
    written.selects("Which fish?", "the swordfish")
    written.text("The quokka is beside it")
    chosen.keep(written, path)
    assert chosen.at_terminal("forget", "--match", "swordfish").code == 0
    write_settings("")
    assert [line["text"] for line in chosen.export()] == ["go", "The quokka is beside it"]
    assert chosen.ask("inbox", "list") == []
    path.unlink()
    assert b"swordfish" not in all_bytes([chosen.home, chosen.folder])


def test_what_an_archive_had_is_forgotten_in_it_with_the_facts_that_were_captured_from_it(
    project: Project, tmp_path: Path, write_settings: Callable[[str], None]
) -> None:
    written, path = Transcript("s"), tmp_path / "s.jsonl"
    written.prompt("go")
    written.selects("Which fish?", "the swordfish")
    written.prompt("go on")
    project.keep(written, path)
    assert any("swordfish" in str(item) for item in project.ask("inbox", "list"))
    write_settings('tier = "json"\n')
    project.keep(written, path)
    assert project.at_terminal("forget", "--match", "swordfish").code == 0
    write_settings("")
    assert project.ask("search", "swordfish") == []
    assert project.ask("inbox", "list") == []
    path.unlink()
    assert b"swordfish" not in all_bytes([project.home])
