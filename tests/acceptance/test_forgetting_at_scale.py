"""Among 100,000 steps, a forget takes what it should from every segment of the index, and others go on beside it."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest

from unified_state.archive.archive import Archive
from unified_state.archive.sessions import touch_session
from unified_state.archive.write_steps import StepWriter
from unified_state.lib.text import pack
from unified_state.model.step import TEXT, Step

from .conftest import Prepared
from .index_segments import indexed_words
from .product import PATIENCE, PROGRAM, Project, archive_is_whole


def _state(path: Path) -> str | None:
    with closing(sqlite3.connect(path, timeout=PATIENCE)) as archive:
        row = archive.execute("SELECT value FROM meta WHERE name = 'words_rewrite'").fetchone()
    return None if row is None else str(row[0])


STEPS, SESSIONS = 100_000, 100
EACH = STEPS // SESSIONS
AT = 1_700_000_000_000
TAKEN = 50_000
# No word is shortened to its stem, and an index never holds this one whole: its neighbours begin like it.
WORD = "zjkwmarmalok"
NEIGHBOURS = ("zjkwmarmalob", "zjkwmarmalop")
# A text that is not compressed, and one that is.
SHORT, LONG = f"{WORD} at last", f"{WORD} " * 100


def fill(project: Project, _folder: Path) -> None:
    """An archive of many sessions. In one of them a word was said, in the others only words like it."""
    project.decide("kept")
    with Archive(str(project.archive)) as archive:
        for number in range(SESSIONS):
            with archive.transaction(durable=False):  # one a session, so that the index has several segments
                _write(archive, number)


def _write(archive: Archive, number: int) -> None:
    session = touch_session(archive, f"session-{number}", AT + number)
    writer = StepWriter(archive, session, None)
    first = number * EACH + 1
    for place in range(first, first + EACH):
        rare, common = place * 7_919 % 100_003, place % 97
        text = f"step r{rare} common{common} {NEIGHBOURS[place % 2]} u{place}"
        text = {TAKEN: SHORT, TAKEN + 1: LONG}.get(place, text)
        uuid = f"{place:08x}-0000-4000-8000-000000000000"
        step = Step(uuid=uuid, block=0, kind=TEXT, at=AT + place, text=text, starts_turn=place % 10 == 1)
        writer.add(step, pack(text))


@pytest.fixture
def many(prepared: Prepared) -> Project:
    """A project with 100,000 steps."""
    return prepared(fill)


def test_prompts_are_archived_as_ever_beside_a_forget(many: Project) -> None:
    """A prompt that waits for four seconds would have to wait for the archive."""
    forget = _forgetting(many, "--session", "session-50")
    prompts = 0
    while forget.poll() is None or prompts < 3:
        done = many.hook("UserPromptSubmit", session_id="beside", prompt=f"prompt number {prompts}")
        assert done.code == 0
        prompts += 1
    assert (forget.returncode, many.log()) == (0, "")
    assert not list(many.data.glob("repositories/*/json"))
    assert archive_is_whole(many.archive)
    taken = set(range(50 * EACH + 1, 51 * EACH + 1))
    assert taken.isdisjoint(set().union(*indexed_words(many.archive).values()))


def test_a_rewrite_of_the_index_that_is_killed_goes_on_with_the_next_forget(many: Project) -> None:
    assert WORD in indexed_words(many.archive)
    forget = _forgetting(many, "--match", WORD)
    while _state(many.archive) != "begun":
        assert forget.poll() is None
        time.sleep(0.001)
    forget.send_signal(signal.SIGKILL)
    forget.wait()
    assert _state(many.archive) == "begun"
    many.decide("beside it")  # a writer whose words are in a segment of their own
    assert many.run("search", WORD).out == ""
    again = many.run("forget", "--match", WORD, "--yes")
    assert again.code == 0, again
    assert _state(many.archive) is None
    assert WORD not in indexed_words(many.archive)
    assert many.ask("search", "u49999")[0]["ref"] == "S49999"


def _forgetting(project: Project, *what: str) -> subprocess.Popen[bytes]:
    command = [*PROGRAM, "forget", *what, "--yes"]
    return subprocess.Popen(command, cwd=project.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
