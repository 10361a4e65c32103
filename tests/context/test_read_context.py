from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.builders import NOW, Entry, append, boundary, entry, prompt
from unified_state.context.read_context import keep_usage, last_usage, read_usage
from unified_state.model.context_usage import Reading


def answered(number: int, tokens: object, *, model: str = "claude-sonnet-4-5", **fields: Any) -> Entry:
    """An entry of an answer, with the usage that the API reported."""
    usage = {"input_tokens": 10, "cache_creation_input_tokens": 5, "cache_read_input_tokens": tokens}
    message = {"id": f"msg_{number}", "role": "assistant", "model": model, "content": [], "usage": usage}
    return entry(number, "assistant", message=message, **fields)


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    return tmp_path / "s.jsonl"


def test_the_newest_answer_tells_the_size_and_the_window(transcript: Path) -> None:
    append(transcript, answered(1, 50_000), answered(2, 60_000, model="claude-opus-5-5"), prompt(3, "go on"))
    reading = Reading(60_015, 1_000_000, NOW + 2_000, model="claude-opus-5-5", is_guess=True)
    assert last_usage(str(transcript)) == reading


@pytest.mark.parametrize(
    "later",
    [
        answered(2, 1_000, isSidechain=True),
        answered(2, 0, model="<synthetic>"),
        answered(2, 0, isApiErrorMessage=True),
        prompt(2, 'the word "usage"'),
        entry(2, "api-request-blob", message={"id": "m", "usage": {"input_tokens": 9}}),
        entry(2, "assistant", message={"usage": "much"}),
        entry(2, "assistant", message=None, note='"usage"'),
    ],
    ids=["subagent", "synthetic", "error", "prompt", "copy", "type", "none"],
)
def test_what_is_no_answer_of_the_conversation_does_not_count(transcript: Path, later: Entry) -> None:
    append(transcript, answered(1, 50_000), later)
    reading = last_usage(str(transcript))
    assert reading is not None
    assert reading.tokens == 50_015


def test_what_stands_before_a_compaction_says_nothing(transcript: Path) -> None:
    append(transcript, answered(1, 150_000), boundary(2))
    assert last_usage(str(transcript)) is None
    append(transcript, answered(3, 20_000))
    reading = last_usage(str(transcript))
    assert reading is not None
    assert reading.tokens == 20_015


def test_long_entries_behind_it_are_read_over(transcript: Path) -> None:
    append(transcript, answered(1, 50_000), prompt(2, "x" * 3_000_000), prompt(3, "é" * 300_000))
    reading = last_usage(str(transcript))
    assert reading is not None
    assert reading.tokens == 50_015


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\x00" * 100, b"{}\n", b'{"usage"\n'])
def test_a_file_without_answers_tells_nothing(transcript: Path, content: bytes) -> None:
    transcript.write_bytes(content)
    assert last_usage(str(transcript)) is None


@pytest.mark.parametrize("path", ["", "/nowhere/at/all", "/"])
def test_a_file_that_is_none_tells_nothing(path: str) -> None:
    assert last_usage(path) is None


READING = Reading(124_000, 200_000, 5)


def test_what_the_client_said_is_read_again(tmp_path: Path) -> None:
    keep_usage(str(tmp_path), "s", READING)
    assert read_usage(str(tmp_path), "s") == READING
    assert read_usage(str(tmp_path), "another") is None


@pytest.mark.parametrize("name", ["../../escaped", "/etc/passwd", "a\0b", "é", "x" * 5_000, "", "\ud800"])
def test_no_session_id_leaves_the_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "repository"
    folder.mkdir()
    keep_usage(str(folder), name, READING)
    assert read_usage(str(folder), name) == READING
    assert [path.parent for path in tmp_path.rglob("*.json")] == [folder / "usage"]


def test_files_of_old_sessions_go(tmp_path: Path) -> None:
    for number in range(60):
        keep_usage(str(tmp_path), f"s{number}", READING)
        os.utime(tmp_path / "usage" / f"s{number}.json", (number, number))
    names = {path.stem for path in (tmp_path / "usage").iterdir()}
    assert names == {f"s{number}" for number in range(10, 60)}


@pytest.mark.parametrize("content", ["", "[", "[1]", '["a", 2, 3]', "[-1, 2, 3]", "[1, 0, 3]", "null", "[" * 100_000])
def test_a_damaged_file_tells_nothing(tmp_path: Path, content: str) -> None:
    keep_usage(str(tmp_path), "s", READING)
    (tmp_path / "usage" / "s.json").write_text(content)
    assert read_usage(str(tmp_path), "s") is None


def test_only_the_user_may_read_it(tmp_path: Path) -> None:
    keep_usage(str(tmp_path), "s", READING)
    assert (tmp_path / "usage" / "s.json").stat().st_mode & 0o077 == 0
