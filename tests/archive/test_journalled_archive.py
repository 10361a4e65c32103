"""An archive over a journal: all of it is in the file, and what forgets leaves the file."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.contracts.contract import decision, session, turn
from unified_state.archive import archive as archive_module
from unified_state.archive import journalled_archive
from unified_state.archive.archive import ARCHIVE_VERSION, Archive
from unified_state.archive.full_text import Filters, best_matches, count_having
from unified_state.archive.journalled_archive import JournalledArchive
from unified_state.archive.schema import archive_schema
from unified_state.archive.session_work import add_notes
from unified_state.archive.sessions import touch_session
from unified_state.archive.steps import index_left
from unified_state.errors import ArchiveBusyError, ArchiveUnavailableError, NewerVersionError
from unified_state.model.history_records import StoredStep
from unified_state.upkeep.history import archive_changes

HOLD = """
import sys
from unified_state.archive.journalled_archive import JournalledArchive
with JournalledArchive(sys.argv[1]) as archive, archive.transaction():
    print("held", flush=True)
    sys.stdin.read()
"""
LONG = "the flux capacitor needs 1.21 gigawatts " * 20


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Where the journal lies."""
    return str(tmp_path / "history.jsonl")


def step(number: int, text: str = "") -> StoredStep:
    return StoredStep(
        session_id="s", uuid=f"u{number}", block=0, kind="text", at=number, text=text or f"text {number} {LONG}"
    )


def append(archive: Archive, *records: Any) -> None:
    archive_changes.append(archive, records)


def rows(path: str) -> dict[str, list[Any]]:
    """The rows of every table that is in a journal."""
    with JournalledArchive(path) as archive:
        return rows_of(archive)


def rows_of(archive: Archive) -> dict[str, list[Any]]:
    tables = archive.column("SELECT name FROM sqlite_schema WHERE type = 'table'")
    return {name: sorted(archive.rows(f"SELECT * FROM {name}"), key=repr) for name in tables if is_kept(name)}


def is_kept(table: str) -> bool:
    return not table.startswith(("sqlite_", "step_words", "migration", "unindexed"))  # the index is made anew


def found(path: str, word: str) -> list[int]:
    with JournalledArchive(path) as archive:
        with archive.transaction():
            index_left(archive)
        return list(best_matches(archive, count_having(archive, [word], 10), 10, Filters(), 10))


def fill(path: str) -> None:
    """Something in most tables, and rows that changed or went."""
    with JournalledArchive(path) as archive:
        append(archive, session("s"), *turn(1), *(step(number) for number in range(3)), decision(1, "D1"))
        with archive.transaction():
            number = touch_session(archive, "s", 5, worktree="/w")
            add_notes(archive, number, "highlight", ["halfway", "to go"], "2026-01-01T00:00:00.000Z")
            archive.run("DELETE FROM note WHERE text = 'to go'")
            archive.run("INSERT INTO vector_model (id, name, version, dimensions) VALUES (1, 'm', '1', 2)")
            archive.run("INSERT INTO vector (step, model, embedding) VALUES (1, 1, x'00ff80')")
        archive.run("INSERT INTO access VALUES (1, 0.5)")  # without a transaction


def test_every_row_comes_back_exactly(path: str) -> None:
    fill(path)
    with JournalledArchive(path) as archive:
        before = rows_of(archive)
        for table in ("note", "vector", "access", "step", "item", "counter", "enforcement"):
            assert before[table], table
        archive.set_meta("a", "b")  # all is written anew
        archive.run("DELETE FROM meta WHERE name = 'a'")
    assert rows(path) == before
    assert found(path, "flux") != []


def test_the_rows_of_every_table_are_kept(path: str) -> None:
    with JournalledArchive(path) as archive, Archive(f"{path}.db") as plain:
        tables = set(filter(is_kept, plain.column("SELECT name FROM sqlite_schema WHERE type = 'table'")))
        assert set(archive._kept_columns()) == tables


def test_what_was_committed_is_in_the_file_when_it_is_closed_or_flushed(path: str) -> None:
    with JournalledArchive(path) as archive:
        append(archive, step(1))
        with archive.transaction():
            archive.run("INSERT INTO meta VALUES ('a', 'b')")
        archive.flush()
        assert b'{"meta":{"name":"a","value":"b"}}' in Path(path).read_bytes()
        archive.set_meta("a", "c")
    assert b'{"meta":{"name":"a","value":"c"}}' in Path(path).read_bytes()
    assert Path(path).stat().st_mode & 0o777 == 0o600


def test_what_does_not_fit_on_the_disk_leaves_the_file_as_it_was(path: str) -> None:
    fill(path)
    before, limits = Path(path).read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 100, limits[1]))  # Python ignores the signal
    try:
        with pytest.raises(ArchiveUnavailableError, match="cannot be used"), JournalledArchive(path) as archive:
            append(archive, step(8), step(9))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert Path(path).read_bytes() == before
    assert sorted(os.listdir(Path(path).parent)) == ["history.jsonl", "history.jsonl.lock"]


def test_who_waits_too_long_for_another_process_is_told(path: str) -> None:
    fill(path)
    before = rows(path)
    command = [sys.executable, "-c", HOLD, path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(ArchiveBusyError, match="another process"):
            JournalledArchive(path, seconds=0.1)
        holder.stdin.close()
    assert rows(path) == before


def test_a_journal_of_an_older_version_is_brought_to_this_one(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(path)
    before = rows(path)

    def add_moods(connection: Any) -> None:
        connection.execute("ALTER TABLE item ADD COLUMN mood TEXT")

    monkeypatch.setattr(archive_schema, "MIGRATIONS", (add_moods,))
    for module in (archive_module, journalled_archive):
        monkeypatch.setattr(module, "ARCHIVE_VERSION", ARCHIVE_VERSION + 1)
    with JournalledArchive(path) as archive:
        assert archive.rows("SELECT alias, mood FROM item") == [("D1", None)]
        append(archive, decision(2, ""))
    assert json.loads(Path(path).read_bytes().split(b"\n")[0])["archive"] == ARCHIVE_VERSION + 1
    assert rows(path)["step"] == before["step"]


@pytest.mark.parametrize("header", [{"journal": 2, "archive": 5}, {"journal": 1, "archive": 99}])
def test_a_journal_of_a_newer_version_is_left_alone(path: str, header: dict[str, int]) -> None:
    Path(path).write_text(json.dumps(header) + "\n", encoding="utf-8")
    before = Path(path).read_bytes()
    with pytest.raises(NewerVersionError, match="newer version"):
        JournalledArchive(path)
    assert Path(path).read_bytes() == before


@pytest.mark.parametrize("bad", [b'{"note":{"id":"x","kind":[]}}', b'{"no":{}}', b'{"note":1}', b"\xff", b"[" * 99_999])
def test_a_line_that_the_disk_has_changed_is_left_out_and_counted(path: str, bad: bytes) -> None:
    fill(path)
    with Path(path).open("ab") as file:
        file.write(bad + b'\r\n{"meta":{"name":"a","value":"b"}}')
    with JournalledArchive(path) as archive:
        assert (archive.damaged, archive.meta("a")) == (1, "b")
        assert archive.row("SELECT count(*) FROM step") == (9,)


def test_a_damaged_first_line_costs_no_other_one(path: str) -> None:
    fill(path)
    before = rows(path)
    Path(path).write_bytes(Path(path).read_bytes().replace(b'{"journal"', b"#", 1))
    with JournalledArchive(path) as archive:
        assert archive.damaged == 1
        archive.set_meta("a", "b")
    assert rows(path)["step"] == before["step"]


def test_where_nothing_can_be_written_the_history_can_be_read(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(path)
    before = rows(path)
    monkeypatch.setattr(os, "open", refusing(os.open))
    with JournalledArchive(path) as archive:
        assert rows_of(archive) == before
    with pytest.raises(ArchiveUnavailableError, match="Read-only"), JournalledArchive(path) as archive:
        archive.set_meta("a", "b")
    assert rows(path) == before


def refusing(real: Any) -> Any:
    """`os.open` as on a file system that may only be read."""

    def opened(path: Any, flags: int, *more: Any) -> Any:
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            raise OSError(30, "Read-only file system")
        return real(path, flags, *more)

    return opened


def test_a_history_that_was_removed_meanwhile_is_not_begun_again(path: str) -> None:
    def write_on() -> None:
        with JournalledArchive(path) as archive:
            append(archive, step(1))
            archive.flush()
            Path(path).unlink()
            append(archive, step(2))

    with pytest.raises(ArchiveUnavailableError, match="removed"):
        write_on()
    assert not Path(path).exists()
