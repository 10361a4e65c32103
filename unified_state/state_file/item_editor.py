"""How a program corrects what is recorded. What only the user may decide becomes a proposal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict, Unpack

from unified_state.archive.session_work import list_notes
from unified_state.ledger.correct_item import close, drop, edit, propose_accept, propose_lift, reopen
from unified_state.ledger.rules.short_item import short_form
from unified_state.model.checked_calls import CheckedCalls
from unified_state.model.item import Decision, Entry
from unified_state.model.refs import note_number
from unified_state.model.session_state import Note
from unified_state.project.workspace.workspace import Workspace
from unified_state.state_file.writer.correct_state import correct, undo_newest
from unified_state.state_file.writer.save_state import correct_note, record_note


class Changes(TypedDict, total=False):
    """The fields of an item that an edit may change, those of all kinds."""

    decision: str
    rationale: str
    reversible: bool
    constraint: str
    source: str
    blocking: bool
    scope: Mapping[str, Sequence[str]] | None
    mode: Literal["warn", "ask", "deny"] | None
    question: str
    context: str
    priority: Literal["high", "medium", "low"]
    type: Literal["error", "command", "output", "observation", "commit", "pull_request"]
    content: str
    attempt: str
    outcome: str


class ItemEditor(CheckedCalls):
    """The methods of `UnifiedStateManager` that correct, and those of to-dos."""

    _workspace: Workspace

    def edit(self, id: str, /, **changes: Unpack[Changes]) -> Entry:  # noqa: A002  # its name everywhere
        """Change fields of an item, as in `edit("D1", rationale="…")`, and return the new item in its place.

        A change of a constraint, of a proposal, or of what the user said is only proposed: its status is "proposed",
        and the older item holds until the user accepts.
        """
        return correct(self._workspace, edit, id, dict(changes))

    def drop(self, id: str, reason: str = "") -> Entry:  # noqa: A002  # its name everywhere
        """Drop an item: it stays in the archive, and is restored no more. Only the user drops constraints, proposals,
        and what the user said: then this raises, and a proposal waits for the user.
        """
        return correct(self._workspace, drop, id, why=reason)

    def resolve(self, id: str, resolution: str = "") -> Entry:  # noqa: A002  # its name everywhere
        """Close a question with its answer, or evidence or an attempt that is settled."""
        return correct(self._workspace, close, id, resolution)

    def undo(self, id: str | None = None) -> list[Entry | Note]:  # noqa: A002  # its name everywhere
        """Take back the newest change that a program of this session made: what it added, edited, dropped or closed. Or
        bring back an item that was closed; what the user dropped, only the user does. Return the changed items.
        """
        if id is not None:
            return [correct(self._workspace, reopen, id)]
        undone = undo_newest(self._workspace)
        return [*map(short_form, undone.items), *undone.notes]

    def propose_lift(self, id: str) -> Decision:  # noqa: A002  # its name everywhere
        """Propose to lift a constraint. It holds until the user accepts."""
        proposal = correct(self._workspace, propose_lift, id)
        assert isinstance(proposal, Decision)  # noqa: S101  # a proposal to lift is a decision
        return proposal

    def propose_accept(self, id: str) -> Entry:  # noqa: A002  # its name everywhere
        """Propose to make an item the user's word, so that it binds."""
        return correct(self._workspace, propose_accept, id)

    def add_todo(self, text: str) -> Note:
        """Record what is still to be done: a pending action with an id (`N5`)."""
        return record_note(self._workspace, "todo", text)

    def list_todos(self) -> list[Note]:
        """Return what is still to be done, the oldest first."""
        return [] if self._workspace.is_empty else self._workspace.use(lambda archive: list_notes(archive, "todo"))

    def resolve_todo(self, id: str) -> Note:  # noqa: A002  # its name everywhere
        """Record that a to-do is done."""
        return correct_note(self._workspace, note_number(id) or 0, done=True)
