"""An archive over a journal: SQLite may be lost at any moment, and what forgets leaves the journal."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.contracts.contract import decision, session, turn
from unified_state.errors import ArchiveUnavailableError, DamagedArchiveError, NewerVersionError, StorageError
from unified_state.memory.archive.archive import ARCHIVE_VERSION, Archive
from unified_state.memory.archive.full_text import Filters, best_matches, count_having
from unified_state.memory.archive.session_work import add_notes
from unified_state.memory.archive.sessions import touch_session
from unified_state.memory.archive.text_columns import tidy
from unified_state.memory.history.archive_store import SqliteStore
from unified_state.memory.journal.journal import HISTORY
from unified_state.memory.journal.journal_rows import all_lines, read_tables
from unified_state.memory.journal.journalled_archive import JournalledArchive, drop_damaged
from unified_state.memory.journal.scratch_database import find_scratch, remove_scratch
from unified_state.model.history_records import StoredStep, Tombstone

LONG = "the flux capacitor needs 1.21 gigawatts " * 20


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """Where the journal lies."""
    return str(tmp_path / "json" / "p")


def history(folder: str) -> Path:
    return Path(folder, HISTORY)


def step(number: int, text: str = "") -> StoredStep:
    return StoredStep(
        session_id="s", uuid=f"u{number}", block=0, kind="text", at=number, text=text or f"text {number} {LONG}"
    )


def append(archive: Archive, *records: Any) -> None:
    SqliteStore("", archive=archive).append(records)


def rows(folder: str) -> list[dict[str, Any]]:
    with JournalledArchive(folder) as archive:
        return rows_of(archive)


def rows_of(archive: Archive) -> list[dict[str, Any]]:
    return sorted(all_lines(archive, read_tables(archive)), key=json.dumps)


def found(folder: str, word: str) -> list[int]:
    with JournalledArchive(folder) as archive:
        return best_matches(archive, count_having(archive, [word], 10), 10, Filters(), 10)


def fill(folder: str) -> None:
    """Something in most tables, and rows that changed or went."""
    with JournalledArchive(folder) as archive:
        append(archive, session("s"), *turn(1), *(step(number) for number in range(3)), decision(1, "D1"))
        with archive.transaction():
            number = touch_session(archive, "s", 5, worktree="/w")
            add_notes(archive, number, "highlight", ["halfway", "to go"], "2026-01-01T00:00:00.000Z")
            archive.run("DELETE FROM note WHERE text = 'to go'")
            archive.run("INSERT INTO vector_model (id, name, version, dimensions) VALUES (1, 'm', '1', 2)")
            archive.run("INSERT INTO vector (step, model, embedding) VALUES (1, 1, x'00ff80')")
        archive.run("INSERT INTO access VALUES (1, 0.5)")  # without a transaction


def test_every_row_comes_back_exactly_after_the_replay_is_lost(folder: str) -> None:
    fill(folder)
    before = rows(folder)
    assert {"note", "vector", "access", "step", "item", "counter", "enforcement"} <= {next(iter(row)) for row in before}
    remove_scratch(folder)
    assert rows(folder) == before
    assert found(folder, "flux") != []


def test_the_rows_of_every_table_are_in_the_journal(folder: str) -> None:
    with JournalledArchive(folder) as archive, Archive(f"{folder}/plain.db") as plain:
        tables = {name for (name,) in plain.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        left = {
            name for name in tables if name.startswith(("sqlite_", "step_words", "migration"))
        }  # the index is made anew
        assert set(read_tables(archive)) == tables - left
        for name in read_tables(archive):
            triggers = archive.rows("SELECT name FROM sqlite_schema WHERE name GLOB 'journal_' || ? || '_*'", name)
            assert {trigger.rpartition("_")[2] for (trigger,) in triggers} >= {"insert", "update", "delete"}


def test_texts_stand_in_the_journal_as_texts(folder: str) -> None:
    fill(folder)
    assert LONG.encode() in history(folder).read_bytes()


def test_a_commit_is_in_the_journal_before_sqlite_has_it(folder: str) -> None:
    with JournalledArchive(folder) as archive:
        append(archive, step(1))
        with archive.transaction():
            archive.run("INSERT INTO meta VALUES ('a', 'b')")
        assert b'{"meta":{"name":"a","value":"b"}}' in history(folder).read_bytes()


def test_what_fails_is_neither_in_the_journal_nor_in_sqlite(folder: str) -> None:
    fill(folder)
    before, known = history(folder).read_bytes(), rows(folder)

    def fails(archive: Archive) -> None:
        with archive.transaction():
            archive.run("INSERT INTO meta VALUES ('a', 'b')")
            raise KeyError

    with JournalledArchive(folder) as archive, pytest.raises(KeyError):
        fails(archive)
    assert (history(folder).read_bytes(), rows(folder)) == (before, known)


def test_what_a_process_killed_between_the_journal_and_sqlite_acknowledged_is_there(folder: str) -> None:
    fill(folder)
    path = find_scratch(folder, ARCHIVE_VERSION)
    assert path is not None
    shutil.copy(path, f"{path}.before")
    with JournalledArchive(folder) as archive:
        append(archive, step(9))
    after = rows(folder)
    os.replace(f"{path}.before", path)  # SQLite never heard of it
    assert rows(folder) == after


def test_of_a_commit_that_was_not_written_whole_nothing_is_there(folder: str) -> None:
    fill(folder)
    before, content = rows(folder), history(folder).read_bytes()
    with JournalledArchive(folder) as archive:
        append(archive, step(8), step(9))
    history(folder).write_bytes(history(folder).read_bytes()[:-20])
    assert rows(folder) == before
    assert history(folder).read_bytes() == content


def test_two_that_have_it_open_see_what_the_other_commits(folder: str) -> None:
    with JournalledArchive(folder) as one, JournalledArchive(folder) as other:
        append(one, decision(1, "D1"))
        append(other, decision(2, ""))
        append(one, decision(3, ""))
        assert [alias for (alias,) in other.rows("SELECT alias FROM item ORDER BY id")] == ["D1", "D2", "D3"]


def test_who_has_a_replay_open_that_was_lost_gives_no_number_twice(folder: str) -> None:
    with JournalledArchive(folder) as one:
        append(one, decision(1, "D1"))
        remove_scratch(folder)
        with JournalledArchive(folder) as other:
            append(other, decision(2, ""))
        with pytest.raises(DamagedArchiveError):  # with which a workspace tries again
            append(one, decision(3, ""))
        drop_damaged(folder)
        assert find_scratch(folder, ARCHIVE_VERSION) == other.path
    with JournalledArchive(folder) as another:
        append(another, decision(3, ""))
        assert [alias for (alias,) in another.rows("SELECT alias FROM item ORDER BY id")] == ["D1", "D2", "D3"]


def test_what_is_forgotten_is_in_no_byte_and_numbers_stay(folder: str, tmp_path: Path) -> None:
    with JournalledArchive(folder) as archive:
        append(archive, step(1), step(2, "the swordfish"), step(3))
        append(archive, Tombstone("step", "u2/0", 9))
        tidy(archive)
    paths = [path for path in tmp_path.rglob("*") if path.is_file()]
    paths += [Path(str(find_scratch(folder, ARCHIVE_VERSION)))]
    assert all(b"swordfish" not in path.read_bytes() for path in paths)
    remove_scratch(folder)
    with JournalledArchive(folder) as archive:
        assert archive.rows("SELECT id FROM step WHERE kind NOT NULL") == [(1,), (3,)]
        append(archive, step(2, "the swordfish"), step(4))
        assert archive.rows("SELECT id FROM step WHERE kind NOT NULL") == [(1,), (3,), (4,)]


@pytest.mark.parametrize("is_replayed", [False, True])
def test_what_who_forgets_was_killed_before_writing_the_journal_anew_the_next_one_does(
    folder: str, is_replayed: bool
) -> None:
    with JournalledArchive(folder) as archive:
        append(archive, step(1), step(2, "the swordfish"))
        append(archive, Tombstone("step", "u2/0", 9))
    assert b"swordfish" in history(folder).read_bytes()
    if is_replayed:
        remove_scratch(folder)
    rows(folder)
    assert b"swordfish" not in history(folder).read_bytes()


def test_lines_about_the_same_rows_do_not_pile_up(folder: str) -> None:
    with JournalledArchive(folder) as archive:
        for number in range(6000):
            with archive.transaction(durable=False):
                archive.set_meta("a", f"{number}" + "x" * 900)
    assert history(folder).stat().st_size > 5_000_000
    with JournalledArchive(folder) as archive:
        assert (archive.meta("a") or "").startswith("5999x")
    assert history(folder).stat().st_size < 10_000


def test_a_journal_of_an_older_version_is_brought_to_this_one(folder: str) -> None:
    os.makedirs(folder)
    header = {"journal": 1, "archive": ARCHIVE_VERSION, "whole": 0}
    item = {"id": 3, "uuid": "u", "alias": "D7", "kind": "decision", "body": '{"decision":"Use JSON"}'}
    item |= {"status": "active", "origin": "user_said", "created_at": "2026-01-01T00:00:00.000Z"}
    write(folder, header, {"item": item}, {"counter": {"letter": "D", "last": 7}}, {"commit": True})
    with JournalledArchive(folder) as archive:
        assert archive.rows("SELECT id, alias, quote FROM item") == [(3, "D7", None)]
        append(archive, decision(1, ""))
        assert archive.rows("SELECT alias FROM item ORDER BY id") == [("D7",), ("D8",)]
    assert json.loads(history(folder).read_bytes().split(b"\n")[0])["archive"] == ARCHIVE_VERSION


@pytest.mark.parametrize("header", [{"journal": 2, "archive": 5}, {"journal": 1, "archive": 99}])
def test_a_journal_of_a_newer_version_is_left_alone(folder: str, header: dict[str, int]) -> None:
    os.makedirs(folder)
    write(folder, header, {"commit": True})
    before = history(folder).read_bytes()
    with pytest.raises(NewerVersionError, match="newer version"):
        JournalledArchive(folder)
    assert history(folder).read_bytes() == before


def test_a_line_that_the_disk_has_changed_is_left_out_and_counted(folder: str) -> None:
    fill(folder)
    content = history(folder).read_bytes()
    bad = (b'{"note":{"id":"x","kind":[]}}', b'{"nothing":{}}', b'{"gone":"note","key":5}', b'{"a":1,"b":2}', b"{{")
    for line in bad:
        history(folder).write_bytes(content + line + b'\n{"meta":{"name":"a","value":"b"}}\n{"commit":true}\n')
        with JournalledArchive(folder) as archive:
            assert (archive.damaged, archive.meta("a")) == (1, "b"), line
            assert archive.row("SELECT count(*) FROM step") == (9,)


def test_a_replay_that_is_damaged_or_empty_is_made_anew(folder: str) -> None:
    fill(folder)
    before, path = rows(folder), find_scratch(folder, ARCHIVE_VERSION)
    assert path is not None
    Path(path).write_bytes(b"")
    assert rows(folder) == before


def test_where_nothing_can_be_written_the_history_can_be_read(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(folder)
    before = rows(folder)
    remove_scratch(folder)
    monkeypatch.setattr(os, "open", refusing(os.open))
    with JournalledArchive(folder) as archive:
        assert rows_of(archive) == before
        with pytest.raises(StorageError), archive.transaction():
            pass


def refusing(real: Any) -> Any:
    """`os.open` as on a file system that may only be read."""

    def opened(path: Any, flags: int, *more: Any) -> Any:
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            raise OSError(30, "Read-only file system")
        return real(path, flags, *more)

    return opened


def test_a_history_that_was_removed_meanwhile_is_not_begun_again(folder: str) -> None:
    with JournalledArchive(folder) as archive:
        append(archive, step(1))
        history(folder).unlink()
        with pytest.raises(ArchiveUnavailableError, match="removed"):
            append(archive, step(2))
    assert not history(folder).exists()
    assert rows(folder) == rows(f"{folder}-new")


def test_the_replay_is_private(folder: str) -> None:
    fill(folder)
    path = find_scratch(folder, ARCHIVE_VERSION)
    assert path is not None
    assert os.stat(path).st_mode & 0o777 == 0o600
    assert os.stat(os.path.dirname(path)).st_mode & 0o777 == 0o700
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def write(folder: str, *lines: dict[str, Any]) -> None:
    content: Iterable[str] = (json.dumps(line) + "\n" for line in lines)
    history(folder).write_text("".join(content), encoding="utf-8")


def test_of_many_steps_the_newest_are_indexed_by_the_replay_and_the_others_with_what_follows(folder: str) -> None:
    at_once, late = 5000, 3  # as many as a replay indexes
    last = at_once + late
    with JournalledArchive(folder) as archive:
        append(archive, *(step(number, "zebra") for number in range(last)))
    remove_scratch(folder)
    with JournalledArchive(folder) as archive:
        found = best_matches(archive, count_having(archive, ["zebra"], last), last, Filters(), last)
        assert sorted(found) == list(range(late + 1, last + 1))
        append(archive, step(last + 1, "zebra"))
        found = best_matches(archive, count_having(archive, ["zebra"], last + 1), last + 1, Filters(), 2 * last)
        assert len(found) == last + 1
