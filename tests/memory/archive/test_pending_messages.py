from __future__ import annotations

from pathlib import Path

import pytest

from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.pending_messages import Pending, read_pending, sessions_with_pending, write_pending
from unified_state.memory.repository.health import set_aside_files
from unified_state.model.step import PROMPT, TEXT

MESSAGES = [Pending(PROMPT, "fix it", 1), Pending(TEXT, 'done "ü" \ud83d', 2)]


def test_pending_messages_come_back_as_they_were(archive: Archive) -> None:
    write_pending(archive, "s", MESSAGES)
    assert read_pending(archive, "s") == MESSAGES
    assert read_pending(archive, "another") == []


def test_without_messages_there_is_no_file(archive: Archive) -> None:
    write_pending(archive, "s", MESSAGES)
    write_pending(archive, "s", [])
    write_pending(archive, "s", [])
    assert (read_pending(archive, "s"), sessions_with_pending(archive)) == ([], [])


def test_sessions_with_pending_messages_are_listed_by_a_name_that_reads_them(archive: Archive) -> None:
    write_pending(archive, "../s", MESSAGES)
    (name,) = sessions_with_pending(archive)
    assert read_pending(archive, name) == MESSAGES
    assert len(list((Path(archive.path).parent / "pending").iterdir())) == 1


def test_the_file_is_private(archive: Archive) -> None:
    write_pending(archive, "s", MESSAGES)
    folder = Path(archive.path).parent / "pending"
    assert (folder.stat().st_mode & 0o777, (folder / "s.json").stat().st_mode & 0o777) == (0o700, 0o600)


@pytest.mark.parametrize("content", [b"", b"{", b'[["prompt"]]', b"7", b"\xff", b'[["prompt",7,8]]', b'[["x","y",8]]'])
def test_a_damaged_file_is_set_aside_whole_and_the_next_messages_are_kept(archive: Archive, content: bytes) -> None:
    write_pending(archive, "s", MESSAGES)
    folder = Path(archive.path).parent
    (folder / "pending" / "s.json").write_bytes(content)
    assert read_pending(archive, "s") == []
    (aside,) = set_aside_files(str(folder))
    assert (folder / aside).read_bytes() == content
    write_pending(archive, "s", MESSAGES)
    assert read_pending(archive, "s") == MESSAGES
    assert sessions_with_pending(archive) == ["s"]
