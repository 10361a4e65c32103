from __future__ import annotations

import os
import random
import shutil
from pathlib import Path
from sqlite3 import DatabaseError

import pytest

from tests.builders import NOW, item, uuid_of
from unified_state.archive.archive import Archive, explained
from unified_state.archive.compactions import begin_compaction, keep_rewind
from unified_state.archive.export_steps import export_steps
from unified_state.archive.schema.archive_check import problem_in
from unified_state.archive.session_work import add_notes
from unified_state.archive.sessions import touch_session
from unified_state.archive.write_steps import StepWriter
from unified_state.errors import ArchiveUnavailableError, DamagedArchiveError
from unified_state.ledger.item_table import insert_item, list_items, next_alias
from unified_state.model.item import DECISION
from unified_state.model.step import PROMPT, Step
from unified_state.project.workspace.damaged_archive import set_aside_if_damaged

STEPS = 1_000


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an archive with items, a note, and so many steps that they fill most of it."""
    path = tmp_path_factory.mktemp("original") / "data" / "archive.db"
    with Archive(str(path)) as archive, archive.transaction():
        for number in range(1, 4):
            insert_item(archive, item(number).replace(alias=next_alias(archive, DECISION)))
        session = touch_session(archive, "s", NOW)
        add_notes(archive, session, "action", ["run it"], "2026-01-01T00:00:00.000Z")
        begin_compaction(archive, session, NOW)
        writer = StepWriter(archive, session, None)
        for number in range(STEPS):
            text = f"{number} " + os.urandom(200).hex()
            step = Step(uuid=uuid_of(number), block=0, kind=PROMPT, at=NOW, text=text, starts_turn=True)
            writer.add(step, text)
    return path.parent


@pytest.fixture
def filled(archive_path: str, original: Path) -> Path:
    """A copy of that archive."""
    shutil.copytree(original, os.path.dirname(archive_path), dirs_exist_ok=True)
    return Path(archive_path)


def strike(path: Path, begin: float, end: float = 1.0) -> None:
    """Fill a part of the file with noise."""
    content = bytearray(path.read_bytes())
    first, last = int(len(content) * begin), int(len(content) * end)
    content[first:last] = random.Random(7).randbytes(last - first)  # the same in every run
    path.write_bytes(content)


def test_a_healthy_archive_stays_where_it_is(filled: Path) -> None:
    before = filled.read_bytes()
    assert problem_in(str(filled)) is None
    assert set_aside_if_damaged(str(filled)) is None
    assert filled.read_bytes() == before


def test_an_archive_in_which_a_session_was_rewound_is_healthy(filled: Path) -> None:
    with Archive(str(filled)) as archive:
        for number in range(200):  # more than SQLite tells of unasked
            keep_rewind(archive, touch_session(archive, "s", NOW), NOW, NOW + number)
    assert problem_in(str(filled)) is None


def test_a_damaged_archive_is_set_aside_whole(filled: Path) -> None:
    strike(filled, 0.5)
    before = filled.read_bytes()
    aside = set_aside_if_damaged(str(filled))
    assert aside == str(filled.parent / "archive.damaged-1.db")
    assert Path(aside).read_bytes() == before
    assert problem_in(str(filled)) is None


def test_the_items_and_notes_that_can_be_read_live_on(filled: Path) -> None:
    strike(filled, 0.5)
    set_aside_if_damaged(str(filled))
    with Archive(str(filled)) as archive:
        assert [entry.alias for entry in list_items(archive)] == ["D1", "D2", "D3"]
        assert archive.row("SELECT text FROM note")[0] == "run it"


def numbers(archive: Archive) -> dict[str, int]:
    """The numbers that would be given next."""
    return dict(archive.rows("SELECT name, seq + 1 FROM sqlite_sequence"))


@pytest.mark.parametrize("begin", [0.0, 0.01, 0.3, 0.5, 0.9])
def test_no_ref_is_given_twice(filled: Path, begin: float) -> None:
    with Archive(str(filled)) as archive:
        before = numbers(archive)
    strike(filled, begin)
    assert set_aside_if_damaged(str(filled)) is not None
    with Archive(str(filled)) as archive:
        assert all(number >= before[table] for table, number in numbers(archive).items())
        if list_items(archive):
            assert next_alias(archive, DECISION) == "D4"


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\x00"], ids=["empty", "text", "cut off"])
def test_a_file_of_which_nothing_can_be_read_is_set_aside(filled: Path, content: bytes) -> None:
    filled.write_bytes(content)
    aside = set_aside_if_damaged(str(filled))
    assert aside is not None
    assert Path(aside).read_bytes() == content
    assert problem_in(str(filled)) is None
    with Archive(str(filled)) as archive:
        assert int(next_alias(archive, DECISION)[1:]) > 3  # which were given


def test_its_journal_goes_with_it(filled: Path) -> None:
    assert os.path.exists(f"{filled}-journal")
    strike(filled, 0.5)
    aside = set_aside_if_damaged(str(filled))
    assert os.path.exists(f"{aside}-journal")


def steps_of(path: Path) -> dict[int, object]:
    """The texts of all steps by their numbers."""
    with Archive(str(path)) as archive:
        return dict(archive.rows("SELECT id, body FROM step WHERE kind NOT NULL"))


def test_of_a_table_with_one_damaged_page_all_rows_of_the_other_pages_come_back_under_their_numbers(
    filled: Path,
) -> None:
    before = steps_of(filled)
    content = bytearray(filled.read_bytes())
    page = content.index(before[STEPS // 2].encode()) // 4096  # type: ignore[attr-defined]
    content[page * 4096 : page * 4096 + 8] = b"\xff" * 8
    filled.write_bytes(content)
    assert set_aside_if_damaged(str(filled)) is not None
    after = steps_of(filled)
    assert after.items() <= before.items()
    assert len(before) - len(after) < 3 * 4096 // 400


@pytest.mark.parametrize("name", [b"indexitem_by_kind", b"trigger"])
def test_a_damaged_index_or_trigger_in_the_schema_costs_no_row(filled: Path, name: bytes) -> None:
    before = steps_of(filled)
    content = filled.read_bytes()
    filled.write_bytes(content.replace(name, name[:-1] + b"\xff", 1))
    assert problem_in(str(filled)) is not None
    assert set_aside_if_damaged(str(filled)) is not None
    assert problem_in(str(filled)) is None
    assert steps_of(filled) == before
    with Archive(str(filled)) as archive:
        assert len(list_items(archive)) == 3
        assert next_alias(archive, DECISION) == "D4"


def test_a_table_whose_name_is_damaged_costs_no_row_of_another_one(filled: Path) -> None:
    before = steps_of(filled)
    filled.write_bytes(filled.read_bytes().replace(b"tableitemitem", b"tableite\xffitem"))
    assert set_aside_if_damaged(str(filled)) is not None
    assert (problem_in(str(filled)), steps_of(filled)) == (None, before)
    with Archive(str(filled)) as archive:
        assert next_alias(archive, DECISION) == "D4"


@pytest.mark.parametrize(
    ("statement", "table"),
    [
        ("UPDATE saved SET git = 'k'", "saved"),
        ("UPDATE session SET work = '[1]'", "session"),
        ("UPDATE item SET files = '{' WHERE id = 1", "item"),
        ("UPDATE turn SET at = 'soon' WHERE id = 1", "turn"),
    ],
)
def test_a_value_that_is_no_json_or_of_another_type_is_damage_and_costs_only_itself(
    filled: Path, statement: str, table: str
) -> None:
    with Archive(str(filled)) as archive:
        archive.run("INSERT INTO saved VALUES ('a', '2026-01-01T00:00:00.000Z', 'manual', '{}')")
        archive.run(statement)
    assert table in str(problem_in(str(filled)))
    assert set_aside_if_damaged(str(filled)) is not None
    assert problem_in(str(filled)) is None
    with Archive(str(filled)) as archive:
        assert len(list_items(archive)) == 3
        assert archive.row("SELECT count(*) FROM step WHERE kind NOT NULL") == (STEPS,)


def test_whoever_runs_out_of_time_leaves_the_damaged_archive_as_it_was(filled: Path) -> None:
    strike(filled, 0.5)
    before = {path.name: path.read_bytes() for path in filled.parent.iterdir()}
    with pytest.raises(ArchiveUnavailableError):
        set_aside_if_damaged(str(filled), seconds=0.0)
    after = {path.name: path.read_bytes() for path in filled.parent.iterdir()}
    assert after == {**before, "archive.db.repair-lock": b""}


def test_who_still_has_the_damaged_archive_open_does_not_write_into_it(filled: Path) -> None:
    with Archive(str(filled)) as late:
        assert len(list_items(late)) == 3
        strike(filled, 0.9)
        aside = set_aside_if_damaged(str(filled))
        assert aside is not None
        with pytest.raises(DatabaseError, match="readonly") as refused:
            late.set_meta("a", "b")
    assert isinstance(explained(refused.value, str(filled)), DamagedArchiveError)


def test_an_archive_that_was_damaged_twice_gives_no_number_twice(filled: Path) -> None:
    with Archive(str(filled)) as archive:
        before = numbers(archive)
    for begin in (0.5, 0.3):
        strike(filled, begin)
        assert set_aside_if_damaged(str(filled)) is not None
    with Archive(str(filled)) as archive:
        assert all(number >= before[table] for table, number in numbers(archive).items())


@pytest.mark.parametrize("table", ["turn", "session"])
def test_steps_are_exported_even_if_their_turns_or_sessions_are_gone(filled: Path, table: str) -> None:
    with Archive(str(filled)) as archive:
        (root,) = archive.row("SELECT rootpage FROM sqlite_master WHERE name = ?", table)
        before = [line["text"] for line in export_steps(archive)]
    content = bytearray(filled.read_bytes())
    content[(root - 1) * 4096 : root * 4096] = b"\xff" * 4096
    filled.write_bytes(content)
    assert set_aside_if_damaged(str(filled)) is not None
    with Archive(str(filled)) as archive:
        assert [line["text"] for line in export_steps(archive)] == before
