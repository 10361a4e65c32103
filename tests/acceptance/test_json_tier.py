"""A project whose history lies in a journal of JSON lines, because its user chose so."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.amount import amount
from tests.builders import NOW, prompt, write_transcript

from .product import (
    Project,
    all_bytes,
    archive_is_whole,
    restored,
)
from .reading import kept, said
from .striking import command_struck_at, run_struck
from .transcripts import Transcript


@pytest.fixture
def chosen(project: Project, write_settings: Callable[[str], None]) -> Project:
    """The project with the tier chosen."""
    write_settings('tier = "json"\n')
    return project


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


def test_old_steps_leave_every_byte_and_an_archive_that_is_not_searched_is_named(
    chosen: Project, tmp_path: Path
) -> None:
    for number, name, at in ((1, "old", NOW - 500 * 86_400_000), (10, "young", NOW)):
        path = write_transcript(tmp_path / f"{name}.jsonl", prompt(number, f"Look at {name}zebra", session=name, at=at))
        assert chosen.run("import", str(path)).code == 0
        path.unlink()
    assert chosen.ask("forget", "--older-than", "2026-01-01", "--yes")["steps"] == 1
    assert b"oldzebra" not in all_bytes([chosen.home, chosen.folder])
    assert [step["text"] for step in chosen.export()] == ["Look at youngzebra"]
    (history,) = chosen.data.rglob("history.jsonl")
    history.with_name("archive.db").write_bytes(b"from a backup")
    done = chosen.run("forget", "--match", "youngzebra", "--yes")
    assert (done.code, f"{history.with_name('archive.db')} was not searched: tier is json" in done.err) == (0, True)


def test_of_eight_at_once_none_is_lost_and_no_id_is_given_twice(chosen: Project) -> None:
    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(chosen.decide, [f"decision {number}" for number in range(24)]))
    assert sorted(ids, key=lambda alias: int(alias[1:])) == [f"D{number}" for number in range(1, 25)]
    assert [item["id"] for item in chosen.ask("decision", "list")] == sorted(ids, key=lambda alias: int(alias[1:]))


def test_with_another_tier_all_of_the_history_moves_there_and_back(
    chosen: Project, tmp_path: Path, write_settings: Callable[[str], None]
) -> None:
    written = Transcript("s")
    for number in range(5):
        written.turn(number)
    path = written.write(tmp_path / "s.jsonl")
    assert chosen.hook("PreCompact", transcript_path=str(path), trigger="auto").code == 0
    assert [chosen.decide("one"), chosen.decide("two")] == ["D1", "D2"]
    chosen.ask("save", "--highlight", "halfway", "--action", "go on")
    path.unlink()
    for tier, text in (("sqlite", "three"), ("json", "four"), ("sqlite", "five")):
        before = (chosen.run("export").out, chosen.run("export", "--items").out)
        write_settings(f'tier = "{tier}"\n')
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(lambda _: chosen.run("export").out, range(4))) == [before[0]] * 4
        assert chosen.run("export", "--items").out == before[1]
        chosen.decide(text)
        assert len(chosen.archives) == (tier == "sqlite")
        assert len(list(chosen.data.rglob("history.jsonl"))) == (tier == "json")
    assert [item["id"] for item in chosen.ask("decision", "list")] == ["D1", "D2", "D3", "D4", "D5"]
    assert kept(chosen.export("s")) == said(written.content)
    assert chosen.ask("search", "five")[0]["ref"] == "D5"
    assert chosen.state()["summaries"]["pendingActions"] == ["go on"]
    assert archive_is_whole(chosen.archive)


def test_whoever_is_killed_while_the_history_moves_changes_nothing(
    chosen: Project, write_settings: Callable[[str], None]
) -> None:
    texts = []
    for number, point in enumerate(range(1, 40, amount(2, 10))):
        chosen.decide(f"decision {number}")
        texts.append(f"decision {number}")
        write_settings(f'tier = "{("sqlite", "json")[number % 2]}"\n')
        run_struck(command_struck_at(point, chosen.data, "decision", "list"), chosen.folder)
        assert [item["decision"] for item in chosen.ask("decision", "list")] == texts


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
