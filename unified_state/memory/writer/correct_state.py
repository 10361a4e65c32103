"""Corrections of recorded items by a program, and the state file that follows."""

from __future__ import annotations

from unified_state.memory.ledger.correct_item import edit, propose_accept
from unified_state.memory.ledger.record_item import in_force, propose_lift
from unified_state.memory.ledger.rules.short_item import short_form
from unified_state.memory.writer.record_state import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.workspace.workspace import Workspace
    from unified_state.model.item import Entry, LedgerItem


def edit_item(workspace: Workspace, ref: str, changes: dict[str, Any]) -> Entry:
    """Return the entry of the item with the changed fields. It is proposed where only the user may change it."""
    author, masker = workspace.author(), workspace.masker

    def action(archive: Archive, now: int) -> LedgerItem:
        return edit(archive, ref, changes, author, masker=masker, now=now)

    return short_form(record(workspace, action, ref))


def propose_lifting(workspace: Workspace, ref: str) -> Entry:
    """Return the entry of the proposal to lift a constraint."""
    author, masker = workspace.author(), workspace.masker

    def action(archive: Archive, now: int) -> LedgerItem:
        return propose_lift(archive, in_force(archive, ref), author, masker=masker, now=now)

    return short_form(record(workspace, action, ref))


def propose_accepting(workspace: Workspace, ref: str) -> Entry:
    """Return the entry of the proposal to make an item the user's word."""
    author, masker = workspace.author(), workspace.masker

    def action(archive: Archive, now: int) -> LedgerItem:
        return propose_accept(archive, ref, author, masker=masker, now=now)

    return short_form(record(workspace, action, ref))
