"""Corrections of recorded items, and the state file that follows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.constraints.compile_constraints import end_lost
from unified_state.errors import NotFoundError
from unified_state.ledger.correct_item import lift
from unified_state.ledger.decide_proposal import accept, reject
from unified_state.ledger.record_item import Author
from unified_state.ledger.rules.short_item import short_form
from unified_state.ledger.undo_change import UndoResult, undo
from unified_state.model.item import Entry, LedgerItem
from unified_state.project.workspace.workspace import Workspace
from unified_state.state_file.writer.record_state import record


def correct(workspace: Workspace, change: Callable[..., LedgerItem], *values: Any, **options: Any) -> Entry:
    """Correct an item as a function of the ledger does, as in `correct(workspace, drop, "D1", why="…")`, and return the
    entry of the item that this returns.
    """
    author = workspace.author()
    changed = record(workspace, lambda archive, now: change(archive, *values, author, now=now, **options))
    return short_form(changed)


def lift_constraint(workspace: Workspace, ref: str) -> Entry:
    """Lift a constraint and return its entry.

    If only the table of enforced constraints has it, end its enforcement and raise NotFoundError.
    """

    def change(archive: Archive, author: Author, **options: Any) -> LedgerItem:
        try:
            return lift(archive, ref, author, **options)
        except NotFoundError:
            if end_lost(workspace, ref):
                workspace.report(f"{ref} is no longer in the ledger; its enforcement was ended")
            raise

    return correct(workspace, change)


def undo_newest(workspace: Workspace) -> UndoResult:
    """Take back the newest change of the ledger, and return what was taken back."""
    author = workspace.author()
    return record(workspace, lambda archive, now: undo(archive, author, now))


def decide_proposals(workspace: Workspace, refs: Sequence[str], *, accepted: bool, why: str = "") -> list[Entry]:
    """Accept or reject proposals in one transaction, and return their entries."""
    author = workspace.author()

    def action(archive: Archive, now: int) -> list[LedgerItem]:
        return accept(archive, refs, author, now) if accepted else reject(archive, refs, author, now, why=why)

    return [short_form(item) for item in record(workspace, action)]
