from __future__ import annotations

from typing import Any

import pytest

from tests.builders import BODIES, NOW
from unified_state.archive.archive import Archive
from unified_state.ledger.item_table import find_item, links_of, list_items
from unified_state.ledger.record_item import Author, hints, record_item
from unified_state.model.item import CONSTRAINT, DECISION, EVIDENCE, MAIN_FIELDS
from unified_state.project.workspace.workspace import Workspace
from unified_state.secrets.masker import Masker
from unified_state.state_file.writer.record_state import add_item


class Recorder:
    """Records items, and gives what is told of each."""

    def __init__(self, archive: Archive, masker: Masker) -> None:
        self.archive, self.masker = archive, masker

    def __call__(self, kind: str, said: str, **options: Any) -> list[str]:
        body = {**BODIES[kind], MAIN_FIELDS[kind]: said}
        item = record_item(self.archive, kind, body, Author("inferred"), mask=self.masker.text, now=NOW, **options)
        return hints(self.archive, item)


@pytest.fixture
def record(archive: Archive, masker: Masker) -> Recorder:
    return Recorder(archive, masker)


def test_a_repeated_decision_is_linked_told_and_kept(record: Recorder, archive: Archive) -> None:
    record(DECISION, "Use SQLite for the archive")
    assert record(DECISION, "We use SQLite for the archive.") == ["D2 repeats D1; both are kept"]
    assert [item.status for item in list_items(archive)] == ["active", "active"]
    assert [(link.relation, link.ref) for link in links_of(archive, find_item(archive, "D2"))] == [("duplicates", "D1")]


def test_what_is_superseded_is_not_compared_any_more(record: Recorder) -> None:
    record(DECISION, "Use SQLite for the archive")
    record(DECISION, "Use DuckDB for the archive", supersedes="D1")
    assert record(DECISION, "Use SQLite for the archive") == []


def test_a_constraint_and_a_decision_that_say_the_same_are_both_wanted(record: Recorder) -> None:
    record(CONSTRAINT, "Never push to main")
    assert record(DECISION, "Never push to main") == []


def test_errors_that_resemble_each_other_are_each_worth_a_line(record: Recorder) -> None:
    record(EVIDENCE, "assert 1 == 2 in test_a.py")
    assert record(EVIDENCE, "assert 1 == 2, in test_a.py") == []
    assert record(EVIDENCE, "assert 1 == 2 in test_a.py") == ["E3 repeats E1; both are kept"]


def test_a_person_is_told_and_a_program_is_not_warned(workspace: Workspace, reports: list[str]) -> None:
    advice: list[str] = []
    for _ in range(2):
        add_item(
            workspace.replace(advise=advice.append),
            DECISION,
            {**BODIES[DECISION], "decision": "Use SQLite for the archive"},
        )
    assert (advice, reports) == (["D2 repeats D1; both are kept"], [])
