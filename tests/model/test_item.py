from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter

from tests.builders import BODIES, item
from unified_state.model.constraint import ORIGINS
from unified_state.model.item import (
    ALIAS_LETTERS,
    EVIDENCE_TYPES,
    PRIORITIES,
    Constraint,
    Decision,
    Evidence,
    OpenQuestion,
)


def choices(record: Any, field: str) -> list[str]:
    """The words that the schema allows for a field."""
    found: list[str] = TypeAdapter(record).json_schema()["properties"][field]["enum"]
    return found


@pytest.mark.parametrize("record", [Decision, Constraint, OpenQuestion, Evidence])
def test_an_entry_says_who_said_it(record: Any) -> None:
    assert choices(record, "origin") == list(ORIGINS)


def test_the_types_and_priorities_of_the_records_are_those_of_the_tables() -> None:
    assert choices(OpenQuestion, "priority") == list(PRIORITIES)
    assert choices(Evidence, "type") == list(EVIDENCE_TYPES)


def test_each_kind_has_a_letter_of_its_own() -> None:
    assert len(set(ALIAS_LETTERS.values())) == len(ALIAS_LETTERS) == len(BODIES)


def test_a_decision_can_be_undone_unless_it_says_otherwise() -> None:
    assert Decision("D1", "Use SQLite", "one file", "2026-01-01T00:00:00.000Z").reversible


def test_a_ledger_item_is_new_and_belongs_to_nobody_unless_it_says_otherwise() -> None:
    new = item(1)
    assert (new.session_id, new.files, new.superseded_by, new.paged_out_at) == (None, (), None, None)
