from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from sqlite3 import DatabaseError

import pytest

from tests.processes import run_at_once
from unified_state.archive.archive import Archive, storage_error
from unified_state.errors import (
    ArchiveBusyError,
    ArchiveUnavailableError,
    DamagedFileError,
    NewerVersionError,
    StorageError,
)


def test_a_new_archive_is_private_and_so_is_its_folder(archive_path: str) -> None:
    with Archive(archive_path):
        assert os.stat(archive_path).st_mode & 0o777 == 0o600
        assert os.stat(os.path.dirname(archive_path)).st_mode & 0o777 == 0o700


def test_its_journal_is_private_too(archive: Archive) -> None:
    with archive.transaction():
        archive.set_meta("a", "b")
        assert os.stat(archive.path + "-journal").st_mode & 0o777 == 0o600


def test_what_is_deleted_is_overwritten(archive: Archive) -> None:
    archive.set_meta("a", "xylophone")
    archive.run("DELETE FROM meta WHERE name = 'a'")
    assert b"xylophone" not in Path(archive.path).read_bytes()


def journal_mode(path: str) -> str:
    connection = sqlite3.connect(path)
    (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    connection.close()
    return str(mode)


def test_the_journal_is_never_a_write_ahead_log(archive: Archive) -> None:
    archive.set_meta("a", "b")
    assert archive.row("PRAGMA journal_mode")[0] == "truncate"
    assert journal_mode(archive.path) == "delete"


def test_a_file_that_was_in_wal_mode_is_brought_back(archive_path: str) -> None:
    with Archive(archive_path):
        pass
    connection = sqlite3.connect(archive_path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("INSERT INTO meta VALUES ('a', 'b')")
    connection.commit()
    connection.close()
    assert journal_mode(archive_path) == "wal"
    with Archive(archive_path) as archive:
        assert archive.meta("a") == "b"
    assert journal_mode(archive_path) == "delete"


@pytest.mark.parametrize(
    ("value", "held"),
    [
        ("half \ud83d", "half \\ud83d"),
        ("whole \U0001f600", "whole \U0001f600"),
        (10**40, 2**63 - 1),
        (-(10**40), -(2**63)),
    ],
)
def test_what_sqlite_refuses_is_held_as_nearly_as_can_be(archive: Archive, value: object, held: object) -> None:
    assert archive.row("SELECT ?1 WHERE ?1 = ?2", value, value)[0] == held
    assert archive.rows("SELECT ?", value) == [(held,)]


def test_a_transaction_that_fails_leaves_nothing(archive: Archive) -> None:
    def change() -> None:
        with archive.transaction():
            archive.set_meta("a", "b")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        change()
    assert archive.meta("a") is None


def test_an_error_that_has_rolled_back_already_is_the_one_that_is_told(archive: Archive) -> None:
    archive.set_meta("a", "b")
    with pytest.raises(DatabaseError, match="UNIQUE"), archive.transaction():
        archive.run("INSERT OR ROLLBACK INTO meta VALUES ('a', 'c')")
    assert archive.meta("a") == "b"


@pytest.mark.parametrize(("durable", "synchronous"), [(True, 2), (False, 1)])
def test_what_must_survive_a_loss_of_power_waits_for_the_disk(
    archive: Archive, durable: bool, synchronous: int
) -> None:
    with archive.transaction(durable=durable):
        assert archive.row("PRAGMA synchronous")[0] == synchronous


WRITE = """
# go
from unified_state.archive.archive import Archive
for number in range(10):
    with Archive(sys.argv[1], seconds=60) as archive, archive.transaction():
        archive.set_meta(f"{sys.argv[2]}-{number}", "x")
"""


def test_eight_processes_make_one_archive_and_lose_nothing(archive_path: str) -> None:
    run_at_once(WRITE, [[archive_path, str(number)] for number in range(8)])
    with Archive(archive_path) as archive:
        assert archive.row("SELECT count(*) FROM meta")[0] == 80
        assert archive.row("PRAGMA integrity_check")[0] == "ok"
    assert set(os.listdir(os.path.dirname(archive_path))) <= {"about.json", "archive.db", "archive.db-journal"}


def test_a_writer_that_waits_too_long_is_told_why(archive: Archive) -> None:
    message = f"the archive {archive.path} cannot be used: database is locked; another process writes for long"
    with (
        archive.transaction(),
        pytest.raises(StorageError, match=message),
        Archive(archive.path, seconds=0) as other,
        other.transaction(),
    ):
        pytest.fail("two wrote at once")


def test_readers_do_not_wait_for_a_writer(archive: Archive) -> None:
    archive.set_meta("a", "old")
    with archive.transaction():
        archive.set_meta("a", "new")
        with Archive(archive.path, seconds=0) as other:
            assert other.meta("a") == "old"


@pytest.mark.parametrize(
    "content",
    [b"", b"this is no database", b"SQLite format 3\x00" + b"\xff" * 5000, os.urandom(20_000)],
    ids=["empty", "text", "header only", "noise"],
)
def test_a_file_that_is_no_archive_is_damaged_and_stays_as_it_is(archive_path: str, content: bytes) -> None:
    os.makedirs(os.path.dirname(archive_path), exist_ok=True)
    Path(archive_path).write_bytes(content)
    with pytest.raises(DamagedFileError, match=f"the archive {archive_path} is damaged: .+; it is set aside"):
        Archive(archive_path)
    assert Path(archive_path).read_bytes() == content


def test_damage_that_is_met_later_is_told_too(archive_path: str) -> None:
    with Archive(archive_path) as archive:
        archive.set_meta("a", "b" * 50_000)
    content = bytearray(Path(archive_path).read_bytes())
    content[8192:] = b"\xff" * (len(content) - 8192)
    Path(archive_path).write_bytes(content)
    with pytest.raises(DamagedFileError), Archive(archive_path) as archive:
        archive.rows("SELECT * FROM meta")


def test_an_archive_of_a_newer_version_is_refused_and_left_alone(archive_path: str) -> None:
    with Archive(archive_path) as archive:
        archive.run("PRAGMA user_version = 99")
    before = Path(archive_path).read_bytes()
    with pytest.raises(NewerVersionError, match="has version 99; this unified-state knows up to"):
        Archive(archive_path)
    assert Path(archive_path).read_bytes() == before


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="cannot be used: Not a directory; check the folder's permissions"):
        Archive(str(tmp_path / "file" / "archive.db"))


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        (sqlite3.SQLITE_BUSY, "another process writes for long, or the file system has no locks; try again"),
        (sqlite3.SQLITE_LOCKED, "another process writes for long, or the file system has no locks; try again"),
        (sqlite3.SQLITE_READONLY_DIRECTORY, "make the file and its folder writable"),
        (sqlite3.SQLITE_FULL, "free some space on the disk"),
        (sqlite3.SQLITE_IOERR_WRITE, "check the disk"),
        (sqlite3.SQLITE_CANTOPEN_ISDIR, "check that its folder exists and is yours"),
        (sqlite3.SQLITE_PERM, "check the folder's permissions"),
        (None, "check the folder's permissions"),
    ],
)
def test_an_error_of_sqlite_says_what_to_do(code: int | None, hint: str) -> None:
    error = sqlite3.OperationalError("something")
    if code is not None:
        error.sqlite_errorcode = code
    found = storage_error(error, "a.db")
    assert isinstance(found, ArchiveBusyError if "another process" in hint else ArchiveUnavailableError)
    assert str(found) == f"the archive a.db cannot be used: something; {hint}"


def test_a_path_of_odd_signs_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "odd %41 ?name#.db"
    with Archive(str(path)) as archive:
        archive.set_meta("a", "b")
    with Archive(str(path)) as reader:
        assert reader.meta("a") == "b"


def test_a_writer_is_not_waited_for(tmp_path: Path) -> None:
    path = str(tmp_path / "archive.db")
    with Archive(path) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StorageError), Archive(path, seconds=0) as reader:
            reader.meta("a")
