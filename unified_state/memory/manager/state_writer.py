"""Writing the state: something is recorded where the history is kept, and the state file is brought up to date."""

from __future__ import annotations

from unified_state.errors import StorageError
from unified_state.memory.manager.archive_writer import ArchiveWriter
from unified_state.memory.workspace.workspace import UNAVAILABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeVar

    from unified_state.errors import UnifiedStateError
    from unified_state.memory.ledger.find_sources import Source
    from unified_state.memory.manager.projection import Projected
    from unified_state.memory.workspace.workspace import Workspace
    from unified_state.model.item import Entry

    T = TypeVar("T")


class StateWriter:
    """The same verbs, wherever the history of the workspace is kept. What an archive that cannot be used now does not
    take is recorded in a journal beside it, and the workspace's `report` is told.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def add(
        self, kind: str, body: dict[str, Any], *, supersedes: str | None = None, source: Source | None = None
    ) -> Entry:
        """A new item."""
        return self._do(lambda writer: writer.add(kind, body, supersedes=supersedes, source=source), supersedes)

    def supersede(self, ref: str, by: str) -> Entry:
        """A decision takes the place of an earlier one."""
        return self._do(lambda writer: writer.supersede(ref, by), ref, by)

    def resolve(self, ref: str, resolution: str) -> Entry:
        """Close an open question."""
        return self._do(lambda writer: writer.resolve(ref, resolution), ref)

    def accept(self, ref: str) -> Entry:
        """Make a proposal a fact."""
        return self._do(lambda writer: writer.accept(ref), ref)

    def dismiss(self, ref: str) -> Entry:
        """Make a proposal none."""
        return self._do(lambda writer: writer.dismiss(ref), ref)

    def lift(self, ref: str) -> Entry:
        """Lift a constraint."""
        return self._do(lambda writer: writer.lift(ref), ref)

    def change_work_item(self, changes: dict[str, Any]) -> dict[str, Any]:
        """Change the given fields of what the session works on."""
        return self._do(lambda writer: writer.change_work_item(changes))

    def save(self, trigger: str, highlights: Sequence[str], actions: Sequence[str] | None) -> Projected:
        """Save with the git state of this moment. What an archive has noted before it failed is not noted beside it."""
        is_noted = False

        def verb(writer: ArchiveWriter) -> Projected:
            nonlocal is_noted
            if not is_noted:
                writer.note(highlights, actions)
                is_noted = True
            return writer.save(trigger)

        return self._do(verb)

    def refresh(self, leaves: Callable[[str], bool] | None = None) -> Projected:
        """Write the state file as the history has it."""
        return self._do(lambda writer: writer.refresh(leaves))

    def _do(self, verb: Callable[[ArchiveWriter], T], *refs: str | None) -> T:
        """Do it; `refs` are the items that it changes."""
        workspace = self._workspace
        writer = ArchiveWriter(workspace)
        try:
            return verb(writer)
        except UNAVAILABLE as error:
            if workspace.journal is not None:
                raise
            if not writer.recorded:
                return self._fall_back(verb, refs, error)
            workspace.report(f"recorded, but {error}")
            result: T = writer.recorded[-1]
            return result

    def _fall_back(self, verb: Callable[[ArchiveWriter], T], refs: Sequence[str | None], error: UnifiedStateError) -> T:
        """Do it in a journal; where nothing can be written there either, the archive's own error counts."""
        from unified_state.upkeep.stand_in.carry_items import check_not_carried
        from unified_state.upkeep.stand_in.stand_in import StandIn

        beside = StandIn(self._workspace, error.message)
        try:
            beside.use(lambda archive: check_not_carried(archive, refs, error.message))
            result = verb(ArchiveWriter(beside))
        except StorageError:
            raise error from None
        why = "; ".join(filter(None, error.args))  # without what lies elsewhere already
        self._workspace.report(f"{why}; it is kept in {beside.journal}, and joins the archive once that can be used")
        return result
