from __future__ import annotations

import os
import sqlite3

import pytest

from tests.processes import run_at_once
from unified_state.errors import DamagedFileError, StorageError
from unified_state.memory.archive import archive
from unified_state.memory.archive.archive import ARCHIVE_VERSION, Archive
from unified_state.memory.archive.schema import archive_schema
from unified_state.memory.archive.schema.archive_check import problem_in
from unified_state.memory.archive.schema.archive_schema import APPLICATION_ID, MIGRATIONS

NEXT = "CREATE TABLE later (x);\nINSERT INTO later SELECT value FROM meta;\n"
BROKEN = "CREATE TABLE later (x);\nINSERT INTO nowhere VALUES (1);\n"


@pytest.fixture
def old_archive(archive_path: str) -> str:
    """An archive of this version, with something in it."""
    with Archive(archive_path) as opened:
        opened.set_meta("a", "b")
    return archive_path


def test_a_new_archive_has_the_newest_version_and_says_what_it_is(archive_path: str) -> None:
    with Archive(archive_path) as opened:
        assert opened.row("PRAGMA user_version")[0] == len(MIGRATIONS) == ARCHIVE_VERSION
        assert opened.row("PRAGMA application_id")[0] == APPLICATION_ID
    assert APPLICATION_ID.to_bytes(4, "big") == b"usta"


def test_an_older_archive_is_brought_up_with_all_it_holds(old_archive: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_schema, "MIGRATIONS", (*MIGRATIONS, NEXT))
    monkeypatch.setattr(archive, "ARCHIVE_VERSION", ARCHIVE_VERSION + 1)
    for _ in range(2):
        with Archive(old_archive) as opened:
            assert opened.rows("SELECT x FROM later") == [("b",)]
            assert opened.row("PRAGMA user_version")[0] == len(MIGRATIONS) + 1


def test_a_step_that_fails_leaves_the_archive_as_it_was(old_archive: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(archive_schema, "MIGRATIONS", (*MIGRATIONS, BROKEN))
        patched.setattr(archive, "ARCHIVE_VERSION", ARCHIVE_VERSION + 1)
        with pytest.raises(StorageError, match="no such table: nowhere"):
            Archive(old_archive)
    with Archive(old_archive) as opened:
        assert opened.meta("a") == "b"
        assert opened.row("SELECT 1 FROM sqlite_master WHERE name = 'later'") is None


@pytest.mark.parametrize("version", range(1, ARCHIVE_VERSION))
def test_an_archive_that_was_not_migrated_yet_is_not_taken_for_a_damaged_one(archive_path: str, version: int) -> None:
    os.makedirs(os.path.dirname(archive_path), exist_ok=True)
    archive.connect_archive(archive_path, 0, version).close()
    assert problem_in(archive_path) is None


MIGRATE = """
# go
from unified_state.memory.archive import archive
from unified_state.memory.archive.schema import archive_schema
from unified_state.memory.archive.archive import Archive
archive_schema.MIGRATIONS = (*archive_schema.MIGRATIONS, sys.argv[2])
archive.ARCHIVE_VERSION += 1
with Archive(sys.argv[1], seconds=60) as opened:
    print(opened.rows("SELECT x FROM later"))
"""


def test_of_several_processes_one_brings_it_up(old_archive: str) -> None:
    assert run_at_once(MIGRATE, [[old_archive, NEXT]] * 6) == ["[('b',)]\n"] * 6


@pytest.mark.parametrize("version", [-1, 1000, 2**31 - 1])
def test_an_absurd_version_is_damage(old_archive: str, version: int) -> None:
    connection = sqlite3.connect(old_archive)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    with pytest.raises(DamagedFileError, match=f"is damaged: its version is {version}"):
        Archive(old_archive)
    assert os.path.exists(old_archive)
