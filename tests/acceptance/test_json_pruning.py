"""In a journal too old steps leave the history when the user asks for it, and only then."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builders import NOW, answer, prompt, write_transcript

from .product import Project, all_bytes

OLD, YOUNG = "oldzebra", "youngzebra"
LONG_AGO = NOW - 500 * 86_400_000


@pytest.fixture
def kept(project: Project, tmp_path: Path, write_settings: Callable[[str], None]) -> Project:
    """A project with a session of long ago and one of now, in files of JSON."""
    write_settings('tier = "json"\n')
    old = (
        prompt(1, f"Look at {OLD}", session="old", at=LONG_AGO),
        answer(2, f"It is {OLD}.", session="old", at=LONG_AGO),
    )
    for name, entries in (("old", old), ("young", (prompt(10, f"Look at {YOUNG}", session="young", at=NOW),))):
        path = write_transcript(tmp_path / f"{name}.jsonl", *entries)
        assert project.hook("PreCompact", session_id=name, transcript_path=str(path), trigger="auto").code == 0
    return project


def texts(project: Project) -> str:
    """All that is kept."""
    return json.dumps(project.export())


def test_a_dry_run_and_who_does_not_say_yes_take_nothing(kept: Project) -> None:
    before = texts(kept)
    would = kept.ask("forget", "--older-than", "2026-01-01", "--dry-run")
    assert (would["steps"], would["sessions"], would["is_done"]) == (2, 1, False)
    assert kept.run("forget", "--older-than", "2026-01-01").code == 2
    assert kept.run("forget", "--older-than", "2026-01-01", "--yes", CLAUDECODE="1").code == 2
    assert texts(kept) == before


def test_old_steps_leave_every_byte_and_do_not_come_back(kept: Project, tmp_path: Path) -> None:
    kept.decide("Use JSON")
    done = kept.ask("forget", "--older-than", "2026-01-01", "--yes")
    assert (done["steps"], done["is_done"]) == (2, True)
    assert OLD.encode() not in all_bytes([kept.home, kept.folder])
    assert YOUNG in texts(kept)
    assert [item["decision"] for item in kept.ask("decision", "list")] == ["Use JSON"]
    assert "was pruned" in kept.run("show", "S1").err
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes((tmp_path / "old.jsonl").read_bytes())
    assert kept.hook("PreCompact", session_id="old", transcript_path=str(copy), trigger="auto").code == 0
    assert OLD not in texts(kept)


@pytest.mark.parametrize(
    "words",
    [
        ("decision", "add", "Keep the runner", "--rationale", "S2 shows how it is called"),
        ("save", "--highlight", "the verdict is in S2, not in S40000"),
    ],
    ids=["item", "note"],
)
def test_what_an_item_or_a_note_names_stays(kept: Project, words: tuple[str, ...]) -> None:
    assert kept.run(*words).code == 0
    done = kept.ask("forget", "--older-than", "2026-01-01", "--yes")
    assert (done["steps"], done["kept"]) == (1, 1)
    assert [line["ref"] for line in kept.export("old")] == ["S2"]


def test_the_whole_of_a_turn_that_an_item_names_stays(kept: Project) -> None:
    kept.ask("evidence", "add", "observation", "as agreed", "--source", "T1")
    assert kept.ask("forget", "--older-than", "2026-01-01", "--yes")["steps"] == 0


def test_a_policy_takes_what_was_used_least(
    kept: Project, tmp_path: Path, write_settings: Callable[[str], None]
) -> None:
    write_settings('tier = "json"\nretention_megabytes = 1\nretention_spares_days = 1\n')
    assert kept.ask("forget", "--policy", "--dry-run")["steps"] == 0
    noise = [
        prompt(n, f"{OLD} {n} {random.Random(n).randbytes(900).hex()}", session="big", at=LONG_AGO)
        for n in range(100, 1100)
    ]
    path = write_transcript(tmp_path / "big.jsonl", *noise)
    assert kept.hook("PreCompact", session_id="big", transcript_path=str(path), trigger="auto").code == 0
    assert kept.ask("forget", "--policy", "--yes")["steps"] > 0
    assert 0 < len(kept.export()) < len(noise)
