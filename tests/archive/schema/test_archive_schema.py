from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.processes import run_at_once
from unified_state.archive import archive
from unified_state.archive.archive import ARCHIVE_VERSION, Archive
from unified_state.archive.schema import archive_schema
from unified_state.archive.schema.archive_check import problem_in
from unified_state.archive.schema.archive_schema import APPLICATION_ID, FIRST_VERSION, MIGRATIONS, newest_version
from unified_state.errors import DamagedFileError, OlderArchiveError, StorageError


def add_table(connection: sqlite3.Connection) -> None:
    """An invented migration."""
    connection.execute("CREATE TABLE later (x)")
    connection.execute("INSERT INTO later SELECT value FROM meta")


def fail(connection: sqlite3.Connection) -> None:
    """An invented migration that fails half-way."""
    connection.execute("CREATE TABLE later (x)")
    connection.execute("INSERT INTO nowhere VALUES (1)")


@pytest.fixture
def old_archive(archive_path: str) -> str:
    """An archive of this version, with something in it."""
    with Archive(archive_path) as opened:
        opened.set_meta("a", "b")
    return archive_path


def test_a_new_archive_has_the_newest_version_and_says_what_it_is(archive_path: str) -> None:
    with Archive(archive_path) as opened:
        assert opened.row("PRAGMA user_version")[0] == newest_version() == ARCHIVE_VERSION
        assert opened.row("PRAGMA application_id")[0] == APPLICATION_ID
    assert APPLICATION_ID.to_bytes(4, "big") == b"usta"


def with_migration(patch: pytest.MonkeyPatch, migration: archive_schema.Migration) -> None:
    """Have this version know one more migration."""
    patch.setattr(archive_schema, "MIGRATIONS", (*MIGRATIONS, migration))
    patch.setattr(archive, "ARCHIVE_VERSION", ARCHIVE_VERSION + 1)


def test_an_older_archive_is_migrated_once_with_all_it_holds(old_archive: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with_migration(monkeypatch, add_table)
    for _ in range(2):
        with Archive(old_archive) as opened:
            assert opened.rows("SELECT x FROM later") == [("b",)]
            assert opened.row("PRAGMA user_version")[0] == ARCHIVE_VERSION + 1
            assert opened.column("SELECT name FROM migration") == ["add_table"]


def test_a_new_archive_has_the_migrations_applied(archive_path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with_migration(monkeypatch, add_table)
    with Archive(archive_path) as opened:
        assert opened.rows("SELECT x FROM later") == []
    assert problem_in(archive_path) is None


def test_a_migration_that_fails_leaves_the_archive_as_it_was(old_archive: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        with_migration(patched, fail)
        with pytest.raises(StorageError, match="no such table: nowhere"):
            Archive(old_archive)
    with Archive(old_archive) as opened:
        assert opened.meta("a") == "b"
        assert opened.row("SELECT 1 FROM sqlite_master WHERE name = 'later'") is None


def test_an_archive_that_was_not_migrated_yet_is_not_taken_for_a_damaged_one(
    old_archive: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_migration(monkeypatch, add_table)
    assert problem_in(old_archive) is None


MIGRATE = """
# go
from unified_state.archive import archive
from unified_state.archive.schema import archive_schema
from unified_state.archive.archive import Archive
def add_table(connection):
    connection.execute("CREATE TABLE later (x)")
    connection.execute("INSERT INTO later SELECT value FROM meta")
archive_schema.MIGRATIONS = (*archive_schema.MIGRATIONS, add_table)
archive.ARCHIVE_VERSION += 1
with Archive(sys.argv[1], seconds=60) as opened:
    print(opened.rows("SELECT x FROM later"))
"""


def test_of_several_processes_one_migrates_it(old_archive: str) -> None:
    assert run_at_once(MIGRATE, [[old_archive]] * 6) == ["[('b',)]\n"] * 6


@pytest.mark.parametrize("version", [1, FIRST_VERSION - 1])
def test_an_archive_of_a_build_before_the_first_release_is_refused_untouched(old_archive: str, version: int) -> None:
    with closing(sqlite3.connect(old_archive)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    before = Path(old_archive).read_bytes()
    with pytest.raises(OlderArchiveError, match=r"before 0\.1\.0.*export --full FILE.*import FILE"):
        Archive(old_archive)
    assert Path(old_archive).read_bytes() == before
    assert problem_in(old_archive) is None


@pytest.mark.parametrize("version", [-1, 1000, 2**31 - 1])
def test_an_absurd_version_is_damage(old_archive: str, version: int) -> None:
    connection = sqlite3.connect(old_archive)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    with pytest.raises(DamagedFileError, match=f"is damaged: its version is {version}"):
        Archive(old_archive)
    assert os.path.exists(old_archive)
