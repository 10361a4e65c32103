"""An index that holds the numbers of lines is renewed in small transactions, and answers in between."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.builders import answer, call, prompt, result
from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.small_steps import pages_to_rewrite
from unified_state.memory.archive.text_columns import forget_step
from unified_state.memory.workspace.workspace import Workspace
from unified_state.search.search_archive import search
from unified_state.upkeep.forget.renew_index import _renew_some, renew_index
from unified_state.upkeep.forget.vacuum import vacuum

Keep = Callable[..., None]
FORM = "first step without line numbers"
FILE = "\n".join(f"{number:>6}→{line}" for number, line in enumerate(("def parse():", "    return 4711", ""), 218))
NUMBERED, LAST = [2, 4, 6], 7


@pytest.fixture
def older(archive: Archive, keep: Keep) -> Archive:
    """An archive whose steps were indexed before the numbers of lines were left out; one step is forgotten."""
    archive.set_meta(FORM, "1000000")
    for number in (1, 3, 5):
        name = f"t{number}"
        keep(answer(number, call(name, "Read", file_path="a.py")), result(number + 1, name, FILE))
    keep(prompt(LAST, "line 219 is wrong"), answer(8, call("t8", "Bash")), result(9, "t8", f"{FILE} marmalade"))
    forget_step(archive, 9)
    archive.set_meta(FORM, "10")
    assert having(archive, "219") == [*NUMBERED, LAST]
    return archive


def having(archive: Archive, word: str) -> list[int]:
    return archive.column("SELECT rowid FROM step_text WHERE step_text MATCH ? ORDER BY rowid", word)


def test_the_numbers_leave_the_index_of_older_steps_and_nothing_else_does(older: Archive) -> None:
    renew_index(older)
    assert (having(older, "219"), having(older, "4711"), having(older, "marmalade")) == ([LAST], NUMBERED, [])
    assert older.meta(FORM) == "1"
    assert pages_to_rewrite(older) == 0


def test_between_two_transactions_everything_is_found_and_forgotten(older: Archive) -> None:
    found = []
    while _renew_some(older, 2):
        found.append(having(older, "219"))
        assert having(older, "4711") == NUMBERED
        assert {hit.ref for hit in search(older, "return 4711", 10)} >= {"S2", "S4", "S6"}
    assert found == [[2, 4, 6, 7], [2, 4, 7], [2, 7], [7], [7]]


def test_a_run_that_ended_early_is_gone_on_with(older: Archive) -> None:
    _renew_some(older, 5)
    assert having(older, "219") == [2, 4, LAST]
    forget_step(older, 2)  # still as it was inserted
    forget_step(older, 6)  # renewed
    renew_index(older)
    assert (having(older, "219"), having(older, "4711")) == ([LAST], [4])


def test_a_vacuum_renews_it_and_a_second_one_has_nothing_to_do(older: Archive, workspace: Workspace) -> None:
    vacuum(workspace)
    assert having(older, "219") == [LAST]
    before = older.row("SELECT total_changes()")
    renew_index(older)
    assert older.row("SELECT total_changes()") == before


def test_of_a_new_archive_there_is_nothing_to_renew(archive: Archive, keep: Keep) -> None:
    renew_index(archive)
    keep(answer(1, call("t1", "Read", file_path="a.py")), result(2, "t1", FILE))
    renew_index(archive)
    assert having(archive, "4711") == [2]
