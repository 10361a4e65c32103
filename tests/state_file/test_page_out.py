from __future__ import annotations

from collections.abc import Sequence

from tests.builders import NOW, item, recorded_in_another_order
from unified_state.archive.archive import Archive
from unified_state.ledger.item_table import SUPERSEDED, find_item, insert_item, items_in_file, update_item
from unified_state.model.session_state import State
from unified_state.project.workspace.workspace import Workspace
from unified_state.state_file.page_out import page_out

REST = State(version="3.2.0", timestamp="2026-01-01T00:00:00.000Z", trigger="manual")


def test_what_another_process_changes_while_tokens_are_counted_stays_changed(
    archive: Archive, workspace: Workspace
) -> None:
    for number in range(1, 9):
        insert_item(archive, item(number, decision=f"{number} " + "word " * 400))

    def count(texts: Sequence[str]) -> list[int]:
        with Archive(archive.path) as other:
            found = find_item(other, "D1")
            update_item(other, found.replace(status=SUPERSEDED, changed_at="2026-01-01T00:00:00.000Z"))
        return [400 for _ in texts]

    kept = page_out(archive, REST, items_in_file(archive), workspace.settings, count, NOW).decisions
    assert len(kept) < 8
    changed = find_item(archive, "D1")
    assert (changed.status, changed.changed_at) == (SUPERSEDED, "2026-01-01T00:00:00.000Z")
    assert [one.alias for one in items_in_file(archive)] == ["D1", *(one.id for one in kept)]


def test_the_oldest_items_leave_first_in_whatever_order_they_were_recorded(
    archive: Archive, workspace: Workspace
) -> None:
    for one in recorded_in_another_order():
        insert_item(archive, one)
    items = items_in_file(archive)

    def count(texts: Sequence[str]) -> list[int]:
        return [700 if text.startswith('{"id"') else 80 for text in texts]

    kept = page_out(archive, REST, items, workspace.settings, count, NOW).decisions
    assert [one.id for one in kept] == ["D1"]
