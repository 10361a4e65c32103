from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import answer, lines, prompt, write_transcript
from unified_state.hosts.transcripts.transcript_lines import parse_entries, read_lines, whole_entries

FIRST, SECOND, THIRD = prompt(1, "one"), answer(2, "two"), prompt(3, "three")


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    return write_transcript(tmp_path / "s.jsonl", FIRST, SECOND, THIRD)


def test_lines_come_with_the_offset_behind_them(transcript: Path) -> None:
    content = transcript.read_bytes()
    found = list(read_lines(str(transcript), 0))
    assert b"".join(line for _, line in found) == content
    assert [content[:end] for end, _ in found] == [
        b"".join(content.splitlines(keepends=True)[:count]) for count in (1, 2, 3)
    ]


def test_reading_goes_on_where_it_ended(transcript: Path) -> None:
    (end, _), *rest = read_lines(str(transcript), 0)
    assert list(read_lines(str(transcript), end)) == rest


@pytest.mark.parametrize("to_end", [False, True])
def test_a_last_half_line_waits_for_its_other_half(transcript: Path, to_end: bool) -> None:
    content = transcript.read_bytes()
    transcript.write_bytes(content[:-20])
    found = list(read_lines(str(transcript), 0, to_end=to_end))
    assert len(found) == 2
    transcript.write_bytes(content)
    assert [line for _, line in read_lines(str(transcript), found[-1][0])] == [lines([THIRD])]


def test_a_whole_last_line_without_its_end_counts_where_nobody_writes(transcript: Path) -> None:
    transcript.write_bytes(transcript.read_bytes()[:-1])
    assert len(list(read_lines(str(transcript), 0, to_end=True))) == 3


@pytest.mark.parametrize("line", [b"", b"\n", b"{", b"[1]\n", b"5\n", b'{"type":"user"', b"\xff\xfe\n", b"[" * 100_000])
def test_a_damaged_line_is_no_entry(line: bytes) -> None:
    assert parse_entries(line) == []


def test_invalid_bytes_are_replaced() -> None:
    (entry,) = parse_entries(b'{"type":"user","text":"caf\xe9"}')
    assert entry["text"] == "caf\ufffd"


@pytest.mark.parametrize(
    ("damaged", "entries", "left"),
    [
        (lines([FIRST])[:-1] + b"\0" * 40, [FIRST], 0),
        (b"\0" * 40 + lines([FIRST]), [FIRST], 0),
        (lines([FIRST])[:-1] + lines([SECOND])[:-1] + lines([THIRD]), [FIRST, SECOND, THIRD], 0),
        (lines([FIRST])[:-1] + b'{"type":"user"' + b"\0" * 9 + lines([THIRD]), [FIRST, THIRD], 14),
        (b'{"type":"us' + lines([THIRD]), [THIRD], 11),
        (lines([FIRST])[:-25] + lines([SECOND]), [SECOND], len(lines([FIRST])) - 25),
        (lines([SECOND])[:-25] + b'{"type":"mode"}', [{"type": "mode"}], len(lines([SECOND])) - 25),
    ],
)
def test_whole_entries_of_a_damaged_line_are_read(damaged: bytes, entries: list[object], left: int) -> None:
    assert whole_entries(damaged) == (entries, left)


@given(st.binary() | st.text().map(str.encode) | st.text().map(lambda text: json.dumps({"type": text}).encode()))
def test_no_line_is_too_odd_to_be_asked(line: bytes) -> None:
    assert all(isinstance(entry, dict) for entry in parse_entries(line))
