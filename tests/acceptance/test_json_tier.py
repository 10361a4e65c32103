"""A project whose history lies in a journal of JSON lines, because its user chose so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builders import NOW, prompt, write_transcript

from .product import (
    Project,
    all_bytes,
    restored,
)
from .reading import kept, said
from .transcripts import Transcript


@pytest.fixture
def chosen(project: Project, write_settings: Callable[[str], None]) -> Project:
    """The project with the tier chosen."""
    write_settings('tier = "json"\n')
    return project


@pytest.fixture
def other(project: Project) -> Project:
    """Another project of the same user."""
    folder = project.folder.parent / "other"
    folder.mkdir()
    return Project(folder, project.home)


def test_every_turn_is_archived_and_after_a_compaction_state_and_turns_come_back(
    chosen: Project, tmp_path: Path
) -> None:
    chosen.decide("Use JSON here")
    chosen.ask("constraint", "add", "API v1 stays", "--source", "user", "--blocking")
    written, path = Transcript("s"), tmp_path / "s.jsonl"
    for number in range(5):
        written.turn(number)
        written.write(path)
        assert chosen.hook("UserPromptSubmit", transcript_path=str(path), prompt="and now?").code == 0
        assert chosen.hook("Stop", transcript_path=str(path)).code == 0
    done = chosen.hook("PreCompact", transcript_path=str(path), trigger="auto")
    assert "D1 (the user said): Use JSON here" in done.out
    texts = restored(chosen, path)
    assert "D1" in texts["brief"]
    assert "API v1 stays" in texts["brief"]
    assert all(f"T{number} agent: Done with turn {number - 1}: " in texts["brief"] for number in range(1, 6))
    exported = [line for line in chosen.export("s") if line.get("text") != "and now?"]
    assert kept(exported) == said(written.content)
    assert chosen.archives == []
    assert chosen.log() == ""


def test_what_was_said_is_found_recalled_and_forgotten(chosen: Project, tmp_path: Path) -> None:
    written = Transcript("s")
    written.prompt("the swordfish is in the cupboard")
    written.text("I put the quokka beside it")
    path = written.write(tmp_path / "s.jsonl")
    assert chosen.hook("PreCompact", transcript_path=str(path), trigger="auto").code == 0
    chosen.decide("Remember the swordfish")
    (hit,) = [hit for hit in chosen.ask("search", "quokka") if hit["kind"] == "text"]
    assert "quokka" in chosen.ask("show", hit["ref"])["text"]
    done = chosen.ask("forget", "--match", "swordfish", "--yes")
    assert (done["steps"], done["items"]) == (1, 1)
    assert chosen.hook("PreCompact", transcript_path=str(path), trigger="auto").code == 0
    assert chosen.ask("search", "swordfish") == []
    path.unlink()
    assert b"swordfish" not in all_bytes([chosen.home, chosen.folder])
    assert chosen.decide("another") == "D2"


def test_old_steps_leave_every_byte(chosen: Project, tmp_path: Path) -> None:
    for number, name, at in ((1, "old", NOW - 500 * 86_400_000), (10, "young", NOW)):
        path = write_transcript(tmp_path / f"{name}.jsonl", prompt(number, f"Look at {name}zebra", session=name, at=at))
        assert chosen.run("import", str(path)).code == 0
        path.unlink()
    assert chosen.ask("forget", "--older-than", "2026-01-01", "--yes")["steps"] == 1
    assert b"oldzebra" not in all_bytes([chosen.home, chosen.folder])
    assert [step["text"] for step in chosen.export()] == ["Look at youngzebra"]


def test_the_tier_counts_where_a_history_begins(
    chosen: Project, other: Project, write_settings: Callable[[str], None]
) -> None:
    assert chosen.decide("one") == "D1"
    write_settings("")
    assert [chosen.decide("two"), other.decide("elsewhere")] == ["D2", "D1"]
    write_settings('tier = "json"\n')
    assert [other.decide("still there"), chosen.decide("three")] == ["D2", "D3"]
    assert (len(list(chosen.data.rglob("history.jsonl"))), len(list(chosen.data.rglob("archive.db")))) == (1, 1)
