"""The journal: whole commits, whatever a killed process, a full disk or an editor leaves behind."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from unified_state.errors import ArchiveUnavailableError, StorageError
from unified_state.memory.journal.journal import HISTORY, Journal

HOLD = """
import sys
from unified_state.memory.journal.journal import Journal
with Journal(sys.argv[1], 1):
    print("held", flush=True)
    sys.stdin.read()
"""
ONE, TWO, THREE = {"note": {"id": 1}}, {"note": {"id": 2}}, {"note": {"id": 3}}


def journal_of(folder: Path) -> Journal:
    return Journal(str(folder / "p"), 0.1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A journal with two commits."""
    with journal_of(tmp_path) as journal:
        journal.append([ONE, TWO], durable=True)
        journal.append([THREE], durable=True)
    return tmp_path / "p" / HISTORY


def test_commits_come_back_as_they_were(tmp_path: Path, path: Path) -> None:
    journal = journal_of(tmp_path)
    assert list(journal.commits()) == [[ONE, TWO], [THREE]]
    assert (journal.end, journal.damaged) == (path.stat().st_size, 0)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_any_text_comes_back_as_it_was(tmp_path: Path) -> None:
    lines = [{"note": {"text": text}} for text in ("half \ud83d", "\0", "日本\u2028語", '"\\\n\r', "{")]
    with journal_of(tmp_path) as journal:
        journal.append(lines, durable=False)
        assert list(journal.commits()) == [lines]


def test_whatever_a_killed_process_had_written_of_a_commit_is_not_read_and_is_cut(tmp_path: Path, path: Path) -> None:
    whole = path.read_bytes()
    first = whole.index(b'{"note":{"id":3}}')
    for length in range(first, len(whole) - 1):
        path.write_bytes(whole[:length])
        with journal_of(tmp_path) as journal:
            assert list(journal.commits()) == [[ONE, TWO]], whole[:length]
            journal.cut(journal.end)
        assert path.read_bytes() == whole[:first]


def test_lines_that_an_editor_ended_otherwise_are_the_same(tmp_path: Path, path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n").removesuffix(b"\r\n"))
    with journal_of(tmp_path) as journal:
        assert list(journal.commits()) == [[ONE, TWO], [THREE]]
        journal.append([ONE], durable=True)
        assert list(journal.commits()) == [[ONE, TWO], [THREE], [ONE]]


@pytest.mark.parametrize("bad", [b'{"note"{"id":2}}', b"\xff\xfe", b"[1]", b"[" * 100_000])
def test_a_line_that_the_disk_has_changed_is_left_out_and_counted(tmp_path: Path, path: Path, bad: bytes) -> None:
    path.write_bytes(path.read_bytes().replace(b'{"note":{"id":2}}', bad))
    journal = journal_of(tmp_path)
    assert list(journal.commits()) == [[ONE], [THREE]]
    assert journal.damaged == 1


def test_a_commit_whose_last_line_the_disk_has_changed_counts(tmp_path: Path, path: Path) -> None:
    path.write_bytes(path.read_bytes().removesuffix(b'{"commit":true}\n') + b'{"commit"\n')
    journal = journal_of(tmp_path)
    assert list(journal.commits()) == [[ONE, TWO], [THREE]]
    assert journal.end == path.stat().st_size


def test_what_does_not_fit_on_the_disk_leaves_the_file_as_it_was(tmp_path: Path, path: Path) -> None:
    before, limits = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 100, limits[1]))  # Python ignores the signal
    try:
        with journal_of(tmp_path) as journal, pytest.raises(StorageError, match="cannot be written"):
            journal.append([{"note": {"text": "x" * 500}}], durable=True)
        with journal_of(tmp_path) as journal, pytest.raises(StorageError, match="cannot be written"):
            journal.rewrite([{"note": {"text": "x" * 500}}])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [HISTORY]


def test_a_rewrite_takes_the_place_of_all_that_was_there(tmp_path: Path, path: Path) -> None:
    with journal_of(tmp_path) as journal:
        journal.rewrite([TWO] * 2500)
        assert [line for commit in journal.commits() for line in commit] == [TWO] * 2500
    assert path.stat().st_mode & 0o777 == 0o600


def test_who_waits_too_long_for_another_writer_is_told(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path / "p")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(ArchiveUnavailableError, match="another process"), journal_of(tmp_path):
            pass
        holder.stdin.close()
    with journal_of(tmp_path) as journal, journal:  # whoever holds it may take it again
        assert list(journal.commits()) == []
