from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builders import item
from unified_state.archive.archive import Archive, read_enforcement
from unified_state.constraints.constraint_table import (
    Table,
    encoded_table,
    read_table,
    set_stamp,
    table_path,
)
from unified_state.ledger.item_table import forget_item, insert_item, update_item
from unified_state.model.constraint import EnforcedRow
from unified_state.model.item import CONSTRAINT, DECISION

ENTRY = EnforcedRow("C1", "Nie „so“ 日本", "me", "user_said", "2026", "deny", "deny", commands=("git push",))


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    table = Table("a stamp", (ENTRY,))
    Path(table_path(str(tmp_path))).write_bytes(encoded_table(table))
    assert read_table(str(tmp_path)) == table


@pytest.mark.parametrize("place", range(0, 120, 5))
def test_a_table_that_was_changed_is_none(tmp_path: Path, place: int) -> None:
    content = bytearray(encoded_table(Table("a stamp", (ENTRY,))))
    content[place] ^= 4
    Path(table_path(str(tmp_path))).write_bytes(content)
    assert read_table(str(tmp_path)) is None


def test_a_missing_table_is_none(tmp_path: Path) -> None:
    assert read_table(str(tmp_path)) is None


def test_whatever_changes_a_constraint_takes_the_stamp_away(archive: Archive) -> None:
    one = item(1, CONSTRAINT)
    changes: list[Callable[[], None]] = [
        lambda: insert_item(archive, one),
        lambda: update_item(archive, one.replace(status="resolved")),
        lambda: forget_item(archive, one.uuid),
    ]
    for number, change in enumerate(changes, 1):
        set_stamp(archive, number - 1, "compiled")
        assert read_enforcement(archive) == (number - 1, "compiled")
        change()
        assert read_enforcement(archive) == (number, None)


def test_other_items_change_nothing_of_it(archive: Archive) -> None:
    insert_item(archive, item(1, DECISION))
    assert read_enforcement(archive) == (0, "")


def test_who_compiled_before_the_newest_change_sets_no_stamp(archive: Archive) -> None:
    insert_item(archive, item(1, CONSTRAINT))
    set_stamp(archive, 0, "too old")
    assert read_enforcement(archive) == (1, None)
