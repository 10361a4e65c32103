from __future__ import annotations

from pathlib import Path

import pytest

from unified_state.errors import StorageError, UnifiedStateError
from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.schema.archive_reader import ArchiveReader


def test_it_reads_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "odd %41 ?name#.db"
    with Archive(str(path)) as archive:
        archive.set_meta("a", "b")
    with ArchiveReader(str(path)) as reader:
        assert reader.meta("a") == "b"


def test_it_writes_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "archive.db")
    Archive(path).connection.close()
    with pytest.raises(StorageError), ArchiveReader(path) as reader:
        reader.set_meta("a", "b")


def test_it_makes_no_archive(tmp_path: Path) -> None:
    path = tmp_path / "archive.db"
    with pytest.raises(StorageError):
        ArchiveReader(str(path))
    assert not path.exists()


def test_a_writer_is_not_waited_for(tmp_path: Path) -> None:
    path = str(tmp_path / "archive.db")
    with Archive(path) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StorageError), ArchiveReader(path, seconds=0) as reader:
            reader.meta("a")


def test_what_is_no_archive_is_an_error_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "archive.db"
    path.write_bytes(b"no database" * 1_000)
    with pytest.raises(UnifiedStateError), ArchiveReader(str(path)) as reader:
        reader.meta("a")
