"""Old steps leave the archive when the user asks for it, and only then; what items come from stays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.builders import NOW, answer, call, prompt, result, write_transcript

from .product import Project

OLD, YOUNG = "oldzebra", "youngzebra"


@pytest.fixture
def archived(project: Project, tmp_path: Path) -> Project:
    """A project with a session of long ago, in which a test failed, and one of now."""
    day = 86_400_000
    path = write_transcript(
        tmp_path / "old.jsonl",
        prompt(1, f"Run the tests of {OLD}", session="old", at=NOW - 500 * day),
        answer(2, call("t1", "Bash", command="pytest -q"), session="old", at=NOW - 500 * day),
        result(
            3, "t1", "E   AssertionError: 1 != 2\n1 failed in 0.1s", is_error=True, session="old", at=NOW - 500 * day
        ),
        answer(4, f"The {OLD} fails.", session="old", at=NOW - 500 * day),
    )
    young = write_transcript(tmp_path / "young.jsonl", prompt(10, f"Look at {YOUNG}", session="young", at=NOW))
    assert project.run("import", str(path), str(young)).code == 0
    return project


def texts(project: Project) -> str:
    """All that is archived."""
    return json.dumps(project.export())


def test_a_dry_run_tells_what_would_go_and_takes_nothing(archived: Project) -> None:
    before = texts(archived)
    would = archived.ask("forget", "--older-than", "2026-01-01", "--dry-run")
    assert would["is_done"] is False
    assert would["steps"] == 3
    assert would["kept"] == 1
    assert (would["sessions"], would["first"][:4], would["last"][:4]) == (1, "2025", "2025")
    assert would["bytes"] > 0
    assert texts(archived) == before


def test_no_agent_prunes(archived: Project) -> None:
    before = texts(archived)
    done = archived.run("forget", "--older-than", "2026-01-01", "--yes", CLAUDECODE="1")
    assert (done.code, "only the user prunes" in done.err) == (2, True)
    assert texts(archived) == before


def test_old_steps_leave_every_byte_and_the_evidence_of_items_stays(archived: Project) -> None:
    done = archived.ask("forget", "--older-than", "2026-01-01", "--yes")
    assert (done["steps"], done["is_done"]) == (3, True)
    assert OLD.encode() not in archived.archive.read_bytes()
    assert archived.run("search", OLD).out == ""
    assert YOUNG in texts(archived)
    (error,) = archived.ask("evidence", "list", "--all")
    assert "AssertionError" in archived.run("show", "--source", error["id"]).out
    assert archived.run("save").code == 0
    assert archived.run("validate").code == 0
    assert "S1 was pruned" in archived.run("show", "S1").err


def test_what_was_pruned_does_not_come_back_with_its_transcript(archived: Project, tmp_path: Path) -> None:
    assert archived.run("forget", "--older-than", "2026-01-01", "--yes").code == 0
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes((tmp_path / "old.jsonl").read_bytes())
    assert archived.run("import", str(copy), str(tmp_path / "old.jsonl")).code == 0
    assert OLD not in texts(archived)


def test_what_an_item_or_a_note_names_stays(archived: Project) -> None:
    archived.decide("Keep the runner; S2 shows how it is called")
    assert archived.run("save", "--highlight", "the verdict is in S4, not in S40000").code == 0
    done = archived.ask("forget", "--older-than", "2026-01-01", "--yes")
    assert (done["steps"], done["kept"]) == (1, 3)
    assert [line["ref"] for line in archived.export("old")] == ["S2", "S3", "S4"]


def test_the_evidence_of_a_fork_stays_in_both_sessions(archived: Project, tmp_path: Path) -> None:
    fork = [json.loads(line) for line in (tmp_path / "old.jsonl").read_text(encoding="utf-8").splitlines()]
    path = write_transcript(tmp_path / "fork.jsonl", *({**entry, "sessionId": "fork"} for entry in fork))
    assert archived.run("import", str(path)).code == 0
    assert archived.ask("forget", "--older-than", "2026-01-01", "--yes")["steps"] == 3
    kept = [[line["kind"] for line in archived.export(session)] for session in ("old", "fork")]
    assert kept == [["tool_result"], ["tool_result"]]


def test_an_age_that_is_none_is_refused(archived: Project) -> None:
    for age in ("", "soon", "-3d", "2999-01-01", "180"):
        done = archived.run("forget", "--older-than", age, "--yes")
        assert done.code == 2, (age, done)


def test_the_space_of_what_was_pruned_is_free_and_a_vacuum_gives_it_to_the_disk(
    project: Project, tmp_path: Path
) -> None:
    noise = [" ".join(f"{number}y{word * 7919 % 1000003:06d}" for word in range(20_000)) for number in range(20)]
    entries = [prompt(number, text, session="old", at=NOW - 400 * 86_400_000) for number, text in enumerate(noise, 1)]
    path = write_transcript(tmp_path / "old.jsonl", *entries)
    assert project.run("import", str(path)).code == 0
    assert project.run("vacuum").code == 0
    before = project.archive.stat().st_size
    pruned = project.run("forget", "--older-than", "2026-01-01", "--yes")
    assert "are free; `unified-state forget --vacuum`" in pruned.out
    after = project.archive.stat().st_size
    done = project.ask("vacuum")
    assert (done["before"], done["after"]) == (after, project.archive.stat().st_size)
    assert done["after"] < before / 10
    path = write_transcript(tmp_path / "new.jsonl", prompt(90, "found afterwards", session="new", at=NOW))
    assert project.run("import", str(path)).code == 0
    assert project.ask("search", "found afterwards")
