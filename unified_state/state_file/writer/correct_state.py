"""Corrections of recorded items, and the state file that follows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.constraints.compile_constraints import end_lost
from unified_state.errors import NotFoundError
from unified_state.ledger.correct_item import close, drop, edit, propose_accept, reopen
from unified_state.ledger.decide_proposal import accept, reject
from unified_state.ledger.item_table import find_item
from unified_state.ledger.record_item import Author, checked, in_force, lift, propose_end, resolve, supersede
from unified_state.ledger.rules.short_item import short_form
from unified_state.ledger.undo_change import Undone, undo
from unified_state.model.item import QUESTION, Entry, LedgerItem
from unified_state.project.workspace.workspace import Workspace
from unified_state.state_file.writer.record_state import record


def _changed(workspace: Workspace, change: Callable[..., LedgerItem], *values: Any, **options: Any) -> Entry:
    """Return the entry of the item that a change of the ledger returns."""
    author = workspace.author()
    return short_form(record(workspace, lambda archive, now: change(archive, *values, author, now=now, **options)))


def supersede_decision(workspace: Workspace, ref: str, by: str) -> Entry:
    """Mark a decision as superseded by another one, and return the entry of the other one."""
    return _changed(workspace, supersede, ref, by)


def resolve_question(workspace: Workspace, ref: str, resolution: str) -> Entry:
    """Close an open question and return its entry."""
    return _changed(workspace, resolve, ref, resolution, mask=workspace.mask)


def lift_constraint(workspace: Workspace, ref: str) -> Entry:
    """Lift a constraint and return its entry.

    If only the table of enforced constraints has it, end its enforcement and raise NotFoundError.
    """

    def change(archive: Archive, author: Author, *, now: int) -> LedgerItem:
        try:
            return lift(archive, ref, author, mask=workspace.mask, now=now)
        except NotFoundError:
            if end_lost(workspace, ref):
                workspace.report(f"{ref} is no longer in the ledger; its enforcement was ended")
            raise

    return _changed(workspace, change)


def drop_item(workspace: Workspace, ref: str, why: str = "") -> Entry:
    """Drop an item and return its entry: it stays in the ledger, and nowhere else."""
    return _changed(workspace, drop, ref, mask=workspace.mask, why=why)


def close_item(workspace: Workspace, ref: str, resolution: str = "") -> Entry:
    """Close an open question with its answer, or evidence or an attempt that is settled, and return its entry."""

    def change(archive: Archive, author: Author, *, now: int) -> LedgerItem:
        end = resolve if find_item(archive, ref).kind == QUESTION else close
        return end(archive, ref, resolution, author, mask=workspace.mask, now=now)

    return _changed(workspace, change)


def reopen_item(workspace: Workspace, ref: str) -> Entry:
    """Reopen an item that was closed, lifted, dropped or rejected, and return its entry."""
    return _changed(workspace, reopen, ref)


def undo_newest(workspace: Workspace) -> Undone:
    """Take back the newest change of the ledger, and return what was taken back."""
    author = workspace.author()
    return record(workspace, lambda archive, now: undo(archive, author, now))


def decide_proposals(workspace: Workspace, refs: Sequence[str], *, accepted: bool, why: str = "") -> list[Entry]:
    """Accept or reject proposals in one transaction, and return their entries."""
    origin, session_id = workspace.origin, workspace.session_id
    told = checked("why", why, workspace.mask) if why else ""

    def action(archive: Archive, now: int) -> list[LedgerItem]:
        if accepted:
            return accept(archive, refs, origin, now, session_id)
        return reject(archive, refs, origin, now, why=told, session_id=session_id)

    return [short_form(item) for item in record(workspace, action)]


def edit_item(workspace: Workspace, ref: str, changes: dict[str, Any]) -> Entry:
    """Return the entry of the item with the changed fields. It is proposed where only the user may change it."""
    return _changed(workspace, edit, ref, changes, mask=workspace.mask)


def propose_lifting(workspace: Workspace, ref: str) -> Entry:
    """Return the entry of the proposal to lift a constraint."""

    def change(archive: Archive, author: Author, *, now: int) -> LedgerItem:
        return propose_end(archive, in_force(archive, ref), author, mask=workspace.mask, now=now)

    return _changed(workspace, change)


def propose_accepting(workspace: Workspace, ref: str) -> Entry:
    """Return the entry of the proposal to make an item the user's word."""
    return _changed(workspace, propose_accept, ref, mask=workspace.mask)
