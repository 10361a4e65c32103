"""Time is the time of what happened: not of its import, and not of a clock that was ahead."""

from __future__ import annotations

import time

import pytest

from tests.builders import HOUR, Entry, answer, prompt, write_transcript
from unified_state.lib.times import to_text

from .product import Project, restored

DAY = 24 * HOUR


@pytest.fixture
def now() -> int:
    return int(time.time() * 1000)


def talk(about: str, at: int | None) -> tuple[Entry, Entry]:
    """A prompt and its answer; None: without a time."""
    entries = prompt(1, f"Look at {about}", uuid=f"prompt about {about}"), answer(2, "Done.", uuid=f"answer {about}")
    for entry in entries:
        entry["sessionId"] = about.replace(" ", "-")
        del entry["timestamp"]
        if at is not None:
            entry["timestamp"] = to_text(at)
    return entries


def bring(project: Project, about: str, at: int | None) -> None:
    """Import a session about something."""
    path = write_transcript(project.home / f"{about}.jsonl", *talk(about, at))
    assert project.run("import", str(path)).code == 0


def told(project: Project, source: str = "startup") -> str:
    return restored(project, project.home / "new.jsonl", session_id="new", source=source)["brief"]


def test_the_last_session_is_not_the_one_that_was_imported_last(project: Project, now: int) -> None:
    bring(project, "the queue", now - 2 * DAY)
    bring(project, "the cache", now - 400 * DAY)
    assert "[LAST SESSION] 2 days ago\n  last prompt: Look at the queue" in told(project)
    assert ", the last one 2 days ago" in told(project)
    assert "last active 2 days ago" in project.run("status").out


def test_a_session_of_a_clock_that_was_ahead_is_not_the_last_one(project: Project, now: int) -> None:
    bring(project, "the queue", now - 2 * DAY)
    bring(project, "the cache", now + 40 * DAY)
    assert "[LAST SESSION] 2 days ago\n  last prompt: Look at the queue" in told(project)
    assert ", the last one 2 days ago" in told(project)
    assert "last active 2 days ago" in project.run("status").out


@pytest.mark.parametrize("days", [None, 40])
def test_a_time_that_is_missing_or_still_to_come_is_unknown(project: Project, now: int, days: int | None) -> None:
    bring(project, "the queue", None if days is None else now + days * DAY)
    assert "[LAST SESSION] at an unknown time\n  last prompt: Look at the queue" in told(project)
    assert "days ago" not in told(project)
    assert "last active" not in project.run("status").out


def test_a_save_in_a_shell_and_an_empty_session_are_not_the_last_session(project: Project, now: int) -> None:
    bring(project, "the queue", now - 2 * DAY)
    assert project.run("save", "--action", "Measure it").code == 0
    project.hook("SessionStart", "brief", session_id="empty", source="startup")
    assert "[LAST SESSION] 2 days ago\n  last prompt: Look at the queue" in told(project)
    assert "Measure it" in told(project)
    assert "last active 2 days ago" in project.run("status").out
