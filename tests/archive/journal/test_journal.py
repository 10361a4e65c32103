"""The file of a journal: whole lines, whatever a killed process, a full disk or an editor leaves behind."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from unified_state.archive.journal.journal import Journal
from unified_state.errors import ArchiveBusyError, ArchiveUnavailableError

HOLD = """
import sys
from unified_state.archive.journal.journal import Journal
with Journal(sys.argv[1], 1):
    print("held", flush=True)
    sys.stdin.read()
"""
ONE, TWO, THREE = {"note": [{"id": 1}]}, {"note": [{"id": 2}]}, {"note": [{"id": 3}]}


def read(path: Path) -> list[object]:
    """All lines behind the header."""
    header, *lines = Journal(str(path), 0.1).news()
    assert "journal" in header
    return list(lines)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A journal with a header and two lines."""
    path = tmp_path / "history.jsonl"
    with Journal(str(path), 0.1) as journal:
        journal.write_anew({}, [ONE])
        journal.append(TWO, durable=True)
    return path


def test_lines_come_back_as_they_were(path: Path) -> None:
    assert read(path) == [ONE, TWO]
    assert path.stat().st_mode & 0o777 == 0o600


def test_whatever_a_killed_process_had_written_of_a_line_is_not_read_and_is_cut(path: Path) -> None:
    whole = path.read_bytes()
    first = whole.index(b'{"note":[{"id":2}]}')
    for length in range(first, len(whole) - 1):
        path.write_bytes(whole[:length])
        with Journal(str(path), 0.1) as journal:
            assert list(journal.news())[1:] == [ONE], whole[:length]
            journal.append(THREE, durable=True)
        assert (read(path), journal.damaged) == ([ONE, THREE], 0)


def test_lines_that_an_editor_ended_otherwise_are_the_same(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n").removesuffix(b"\r\n"))
    with Journal(str(path), 0.1) as journal:
        assert list(journal.news())[1:] == [ONE, TWO]
        journal.append(THREE, durable=True)
    assert read(path) == [ONE, TWO, THREE]


@pytest.mark.parametrize("bad", [b'{"note"[{"id":1}]}', b"\xff\xfe", b"[1]", b"[" * 100_000])
def test_a_line_that_the_disk_has_changed_is_left_out_and_counted(path: Path, bad: bytes) -> None:
    path.write_bytes(path.read_bytes().replace(b'{"note":[{"id":1}]}', bad))
    journal = Journal(str(path), 0.1)
    assert list(journal.news())[1:] == [TWO]
    assert journal.damaged == 1


def test_a_reader_goes_on_where_it_was_and_begins_again_once_the_file_was_written_anew(path: Path) -> None:
    reader = Journal(str(path), 0.1)
    assert list(reader.news())[1:] == [ONE, TWO]
    with Journal(str(path), 0.1) as writer:
        assert list(writer.news())[1:] == [ONE, TWO]
        writer.append(THREE, durable=False)
        assert list(reader.news()) == [THREE]
        writer.write_anew({}, [TWO])
    header, *lines = reader.news()
    assert ("journal" in header, lines) == (True, [TWO])
    assert list(reader.news()) == []


def test_what_does_not_fit_on_the_disk_leaves_the_file_as_it_was(path: Path) -> None:
    before, limits = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    long = {"note": [{"text": "x" * 500}]}
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 100, limits[1]))  # Python ignores the signal
    try:
        with Journal(str(path), 0.1) as journal:
            assert list(journal.news())[1:] == [ONE, TWO]
            with pytest.raises(ArchiveUnavailableError, match="cannot be used"):
                journal.append(long, durable=True)
            with pytest.raises(ArchiveUnavailableError, match="cannot be used"):
                journal.write_anew({}, [long])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == before
    assert sorted(os.listdir(path.parent)) == ["history.jsonl", "history.jsonl.lock"]


def test_who_waits_too_long_for_another_writer_is_told(path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(ArchiveBusyError, match="another process"), Journal(str(path), 0.1):
            pass
        assert read(path) == [ONE, TWO]  # a reader does not wait
        holder.stdin.close()
