from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builders import NOW, SESSION, answer, append, prompt, write_transcript
from tests.forgetting import forget_ref, forget_session, forget_text
from unified_state.archive.archive import Archive
from unified_state.archive.export_steps import export_steps
from unified_state.archive.pending_messages import (
    PendingMessage,
    forget_messages,
    keep_message,
    read_pending,
)
from unified_state.archive.sessions import Cursor, move_cursor, touch_session
from unified_state.capture.capture_transcript import Capture
from unified_state.model.hook_event import Moment
from unified_state.model.step import PROMPT, TEXT
from unified_state.secrets.masker import Masker

LATER = NOW + 60_000


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    return write_transcript(tmp_path / f"{SESSION}.jsonl", prompt(1, "first"), answer(2, "sure"))


@pytest.fixture
def capture(archive: Archive, masker: Masker, transcript: Path) -> Callable[[int], object]:
    return lambda now: Capture(archive, masker, Moment(now)).session(str(transcript), SESSION)


def texts(archive: Archive) -> list[str]:
    return [line["text"] for line in export_steps(archive, SESSION)]


def test_a_prompt_that_the_transcript_has_is_not_kept_twice(
    archive: Archive, transcript: Path, capture: Callable[[int], object]
) -> None:
    keep_message(archive, SESSION, PendingMessage(PROMPT, "and this ", NOW + 5_000))
    append(transcript, prompt(5, "and this"))
    capture(LATER)
    assert texts(archive) == ["first", "sure", "and this"]
    assert read_pending(archive, SESSION) == []


def test_a_prompt_that_the_transcript_lost_is_archived_in_a_turn_of_its_own(
    archive: Archive, capture: Callable[[int], object]
) -> None:
    keep_message(archive, SESSION, PendingMessage(PROMPT, "and this", NOW + 5_000))
    capture(LATER)
    capture(LATER)
    assert texts(archive) == ["first", "sure", "and this"]
    assert archive.row("SELECT count(*) FROM turn")[0] == 2


def test_the_same_words_said_long_before_are_another_prompt(archive: Archive, capture: Callable[[int], object]) -> None:
    keep_message(archive, SESSION, PendingMessage(PROMPT, "first", NOW + 100_000))
    capture(NOW + 200_000)
    assert texts(archive) == ["first", "sure", "first"]


def test_a_message_that_may_still_come_waits(archive: Archive, capture: Callable[[int], object]) -> None:
    keep_message(archive, SESSION, PendingMessage(PROMPT, "and this", NOW + 5_000))
    capture(NOW + 6_000)
    assert texts(archive) == ["first", "sure"]
    assert len(read_pending(archive, SESSION)) == 1


def test_a_message_of_a_client_that_is_gone_does_not_wait(archive: Archive, capture: Callable[[int], object]) -> None:
    client = subprocess.Popen([sys.executable, "-c", ""])
    client.wait()
    with archive.transaction():
        touch_session(archive, SESSION, NOW, pid=client.pid)
    keep_message(archive, SESSION, PendingMessage(PROMPT, "and this", NOW + 5_000))
    capture(NOW + 6_000)
    assert texts(archive) == ["first", "sure", "and this"]


def test_an_answer_that_the_transcript_lost_is_archived_in_its_turn(
    archive: Archive, capture: Callable[[int], object]
) -> None:
    keep_message(archive, SESSION, PendingMessage(TEXT, "all done", NOW + 5_000))
    capture(LATER)
    assert texts(archive) == ["first", "sure", "all done"]
    assert archive.row("SELECT count(*) FROM turn")[0] == 1


def test_an_answer_in_several_blocks_is_known_by_its_last(
    archive: Archive, transcript: Path, capture: Callable[[int], object]
) -> None:
    keep_message(archive, SESSION, PendingMessage(TEXT, "done,\n\nin two blocks", NOW + 5_000))
    append(transcript, answer(5, "done,", "in two blocks"))
    capture(LATER)
    assert texts(archive) == ["first", "sure", "done,", "in two blocks"]


def test_a_slash_command_is_known_though_the_transcript_words_it_otherwise(
    archive: Archive, transcript: Path, capture: Callable[[int], object]
) -> None:
    keep_message(archive, SESSION, PendingMessage(PROMPT, "/review all", NOW + 5_000))
    append(transcript, prompt(5, "<command-name>/review</command-name><command-args>all</command-args>"))
    capture(LATER)
    assert len(texts(archive)) == 3


def test_a_session_killed_before_its_first_entry_keeps_its_prompt(
    archive: Archive, masker: Masker, tmp_path: Path
) -> None:
    with archive.transaction():
        session = touch_session(archive, SESSION, NOW)
        path = str(tmp_path / "never-written.jsonl")
        move_cursor(archive, Cursor(path=path, session=session, agent=None, offset=0, inode=None, turn=None))
    keep_message(archive, SESSION, PendingMessage(PROMPT, "fix it", NOW))
    Capture(archive, masker, Moment(LATER)).catch_up()
    assert texts(archive) == ["fix it"]


def test_what_is_forgotten_does_not_come_back_as_a_pending_message(
    archive: Archive, transcript: Path, capture: Callable[[int], object]
) -> None:
    append(transcript, prompt(5, "my secret plan"))
    capture(LATER)
    ways: list[Callable[[], object]] = [
        lambda: forget_ref(archive, "T2"),
        lambda: forget_text(archive, "secret PLAN", NOW),
        lambda: forget_session(archive, SESSION, LATER),
    ]
    for forget in ways:
        keep_message(archive, SESSION, PendingMessage(PROMPT, "my secret plan", NOW + 5_000))
        forget()
        assert read_pending(archive, SESSION) == []


def test_other_pending_messages_stay_when_one_is_forgotten(archive: Archive) -> None:
    for text in ("a", "b"):
        keep_message(archive, SESSION, PendingMessage(PROMPT, text, NOW))
    forget_messages(archive, lambda text: text == "a")
    assert [message.text for message in read_pending(archive, SESSION)] == ["b"]
