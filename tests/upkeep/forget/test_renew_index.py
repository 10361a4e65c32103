"""An index of an earlier version moves into the table of newer steps in small transactions, and answers in between."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.builders import answer, call, prompt, result
from tests.indexed import begin_forms_at, check_index, steps_having
from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.full_text import Filters
from unified_state.memory.archive.small_steps import pages_to_rewrite
from unified_state.memory.archive.text_columns import forget_step
from unified_state.memory.workspace.workspace import Workspace
from unified_state.search.search_archive import search
from unified_state.upkeep.forget.renew_index import _renew_some, renew_index
from unified_state.upkeep.forget.vacuum import vacuum

Keep = Callable[..., None]
FORM = "first step with words once"
FILE = "\n".join(f"{number:>6}→{line}" for number, line in enumerate(("def parse():", "    return 4711", ""), 218))
NUMBERED, LAST = [2, 4, 6], 7
OLDER, NEWER = "step_text", "step_words"


@pytest.fixture
def older(archive: Archive, keep: Keep) -> Archive:
    """An archive whose steps were indexed by earlier versions: one without parts of names, some with the numbers of
    lines. One step is forgotten, and one is newer.
    """
    begin_forms_at(archive, parts=2, without_line_numbers=7, once=10)
    for number in (1, 3, 5):
        name = f"t{number}"
        keep(answer(number, call(name, "Read", file_path="aFile.py")), result(number + 1, name, FILE))
    keep(prompt(LAST, "line 219 is wrong"), answer(8, call("t8", "Bash")), result(9, "t8", f"{FILE} marmalade"))
    forget_step(archive, 9)
    keep(prompt(10, "the newer step of 数据库"))
    assert steps_having(archive, "219") == [*NUMBERED, LAST]
    assert (indexed(archive, OLDER), indexed(archive, NEWER)) == ([*range(1, 9)], [10])
    return archive


def indexed(archive: Archive, table: str) -> list[int]:
    return archive.column(f"SELECT id FROM {table}_docsize ORDER BY id")


def test_all_steps_move_to_the_newer_table_in_the_newest_form(older: Archive) -> None:
    renew_index(older)
    found = [steps_having(older, word) for word in ("219", "4711", "marmalade", "file")]
    assert found == [[LAST], NUMBERED, [], [1, 3, 5]]
    assert (indexed(older, OLDER), indexed(older, NEWER)) == ([], [*range(1, 9), 10])
    assert older.meta(FORM) == "1"
    assert pages_to_rewrite(older) == 0


def test_nothing_of_the_older_table_stays(older: Archive) -> None:
    renew_index(older)
    older.run("CREATE VIRTUAL TABLE temp.terms USING fts5vocab ('main', 'step_text', 'instance')")
    assert older.rows("SELECT * FROM terms") == []
    assert older.row("SELECT count(*) FROM step_text_data WHERE id >= 1 << 37") == (0,)
    check_index(older)


QUERIES = {
    "return 4711": {"S2", "S4", "S6"},
    "line wrong": {"S7"},
    "数": {"S10"},
    "数据库": {"S10"},
    "parse": {"S2", "S4", "S6"},
    "aFile": {"S1", "S3", "S5"},
}


def test_between_two_transactions_everything_is_found_and_forgotten(older: Archive) -> None:
    sizes = []
    while True:
        for query, refs in QUERIES.items():
            assert {hit.ref for hit in search(older, query, 10)} >= refs
        assert {hit.ref for hit in search(older, "read", 10, filters=Filters(file="aFile.py"))} == {"S1", "S3", "S5"}
        assert {hit.ref for hit in search(older, "4711", 10, filters=Filters(tool="Read"))} == {"S2", "S4", "S6"}
        check_index(older)
        sizes.append(len(indexed(older, OLDER)))
        if not _renew_some(older, 2):
            break
    assert sizes == [8, 7, 5, 3, 1, 0]
    for number in range(1, 11):
        forget_step(older, number)
    assert steps_having(older, "read OR 4711 OR wrong OR newer") == []
    check_index(older)


def test_a_run_that_ended_early_is_gone_on_with(older: Archive) -> None:
    _renew_some(older, 5)
    assert steps_having(older, "219") == [2, 4, LAST]
    forget_step(older, 2)  # still as it was inserted
    forget_step(older, 6)  # renewed
    renew_index(older)
    assert (steps_having(older, "219"), steps_having(older, "4711")) == ([LAST], [4])
    check_index(older)


def test_what_comes_in_between_is_indexed_in_the_newest_form(older: Archive, keep: Keep) -> None:
    _renew_some(older, 5)
    keep(prompt(11, "a prompt meanwhile"))
    assert indexed(older, NEWER) == [5, 6, 7, 8, 10, 11]
    renew_index(older)
    assert steps_having(older, "meanwhile") == [11]


def test_an_archive_that_has_no_newer_step_is_renewed(archive: Archive, keep: Keep) -> None:
    begin_forms_at(archive, parts=1, without_line_numbers=1, once=100)
    keep(prompt(1, "an older step"))
    archive.run("DELETE FROM meta WHERE name = ?", FORM)
    assert {hit.ref for hit in search(archive, "older", 10)} == {"S1"}
    renew_index(archive)
    assert (indexed(archive, OLDER), indexed(archive, NEWER)) == ([], [1])
    assert {hit.ref for hit in search(archive, "older", 10)} == {"S1"}


def test_a_vacuum_renews_it_and_a_second_one_has_nothing_to_do(older: Archive, workspace: Workspace) -> None:
    vacuum(workspace)
    assert steps_having(older, "219") == [LAST]
    before = older.row("SELECT total_changes()")
    renew_index(older)
    assert older.row("SELECT total_changes()") == before


def test_of_a_new_archive_there_is_nothing_to_renew(archive: Archive, keep: Keep) -> None:
    renew_index(archive)
    keep(answer(1, call("t1", "Read", file_path="a.py")), result(2, "t1", FILE))
    assert indexed(archive, NEWER) == [1, 2]
    renew_index(archive)
    assert steps_having(archive, "4711") == [2]
