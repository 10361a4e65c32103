from __future__ import annotations

import pytest

from tests.builders import NOW, item, recorded_in_another_order
from tests.processes import run_at_once
from unified_state.archive.archive import Archive
from unified_state.errors import NotFoundError
from unified_state.ledger.item_table import (
    DISMISSED,
    PROPOSED,
    SUPERSEDED,
    find_item,
    insert_item,
    items_in_file,
    items_to_restore,
    list_items,
    newest_items,
    next_alias,
    raise_counter,
)
from unified_state.model.item import CONSTRAINT, DECISION, QUESTION

FULL = item(7, origin="user_said").replace(
    session_id="s",
    source_uuid="u",
    commit="c0ffee",
    branch="main",
    files=("a.py", "b/ä.py"),
    changed_at="2026-01-01T00:00:00.000Z",
    superseded_by="x",
    paged_out_at="2026-01-02T00:00:00.000Z",
)


def test_an_item_is_kept_with_all_its_fields(archive: Archive) -> None:
    insert_item(archive, FULL)
    assert find_item(archive, "D7") == FULL


@pytest.mark.parametrize("ref", ["D7", "d7", FULL.uuid, FULL.uuid.upper()])
def test_an_item_is_found_by_its_alias_or_its_uuid(archive: Archive, ref: str) -> None:
    insert_item(archive, FULL)
    assert find_item(archive, ref) == FULL


def test_an_item_that_was_renamed_is_found_by_its_old_alias(archive: Archive) -> None:
    insert_item(archive, FULL)
    archive.run("INSERT INTO item_alias VALUES ('D3', ?)", FULL.uuid)
    assert find_item(archive, "D3") == FULL


def test_an_item_that_is_nowhere_is_named(archive: Archive) -> None:
    with pytest.raises(NotFoundError, match="there is no item D9; `unified-state search`"):
        find_item(archive, "D9")


def test_aliases_are_counted_for_each_kind(archive: Archive) -> None:
    assert [next_alias(archive, kind) for kind in (DECISION, DECISION, CONSTRAINT, DECISION)] == [
        "D1",
        "D2",
        "C1",
        "D3",
    ]
    assert dict(archive.rows("SELECT letter, last FROM counter")) == {"D": 3, "C": 1}


def test_numbers_that_are_taken_are_not_given(archive: Archive) -> None:
    raise_counter(archive, "D", 5)
    raise_counter(archive, "D", 3)
    assert next_alias(archive, DECISION) == "D6"


COUNT = """
# go
from unified_state.archive.archive import Archive
from unified_state.ledger.item_table import next_alias
with Archive(sys.argv[1], seconds=60) as archive:
    for _ in range(10):
        with archive.transaction():
            alias = next_alias(archive, "decision")
        print(alias)
"""


def test_no_alias_is_given_twice(archive: Archive) -> None:
    printed = run_at_once(COUNT, [[archive.path]] * 6)
    aliases = [alias for output in printed for alias in output.split()]
    assert sorted(aliases, key=lambda alias: int(alias[1:])) == [f"D{number}" for number in range(1, 61)]


def test_items_are_listed_the_oldest_first(archive: Archive) -> None:
    items = [item(1), item(2, CONSTRAINT), item(3, status=PROPOSED), item(4, QUESTION, status="resolved")]
    for entry in items:
        insert_item(archive, entry)
    assert list_items(archive) == items
    assert list_items(archive, DECISION) == [items[0], items[2]]
    assert list_items(archive, statuses=["active", PROPOSED]) == items[:3]
    assert list_items(archive, DECISION, ["active"]) == [items[0]]


def test_a_constraint_that_left_the_file_is_given_back_all_the_same(archive: Archive) -> None:
    paged_out = item(1, CONSTRAINT).replace(paged_out_at="2026-01-01T00:00:00.000Z")
    for entry in (paged_out, item(2, CONSTRAINT), item(3, CONSTRAINT, status=DISMISSED)):
        insert_item(archive, entry)
    assert [found.alias for found in items_to_restore(archive)] == ["C1", "C2"]


def test_the_newest_items_are_those_of_the_latest_time(archive: Archive) -> None:
    for entry in recorded_in_another_order():
        insert_item(archive, entry)
    assert [one.alias for one in newest_items(archive, DECISION, 3, NOW)] == ["D1", "D2", "D3"]
    assert [one.alias for one in newest_items(archive, DECISION, 1, NOW)] == ["D1"]


def test_the_file_shows_what_was_neither_paged_out_nor_dismissed(archive: Archive) -> None:
    shown = [item(1), item(3, status=SUPERSEDED)]
    for entry in [*shown, item(2).replace(paged_out_at="2026-01-01T00:00:00.000Z"), item(4, status=DISMISSED)]:
        insert_item(archive, entry)
    assert items_in_file(archive) == shown


@pytest.mark.parametrize("name", [b"decision", b"rationale"])
def test_a_body_in_which_the_name_of_a_field_was_damaged_is_shown_as_far_as_it_can_be_read(
    archive: Archive, name: bytes
) -> None:
    insert_item(archive, item(1))
    text = '{"decision":"Use SQLite","rationale":"one file"}'.replace(name.decode(), "x" + name.decode()[1:])
    archive.run("UPDATE item SET body = ?", text)
    (found,) = list_items(archive)
    assert "Use SQLite" in found.body.values()
    assert isinstance(found.body["decision"], str)
