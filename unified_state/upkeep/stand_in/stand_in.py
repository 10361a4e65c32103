"""Standing in: while an archive cannot be used, the same services run over a journal, which is merged back later.

It begins with what the state file shows. Nothing is enforced by it: the table of enforced constraints stays the
archive's.
"""

from __future__ import annotations

from unified_state.memory.journal.journal_places import writable_journal
from unified_state.memory.repository.place import digest_path_of
from unified_state.memory.workspace.workspace import Workspace
from unified_state.upkeep.stand_in.carry_items import open_journal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.archive.archive import Archive


class StandIn(Workspace):
    """A workspace whose history is kept in a journal for now; `reason` says why."""

    enforces = False

    def __init__(self, workspace: Workspace, reason: str) -> None:
        place = workspace.place
        journal = writable_journal(place)
        digest = digest_path_of(journal, place.state_path)
        super().__init__(
            place.replace(folder=journal, digest_path=digest),
            workspace.settings,
            report=workspace.report,
            session_id=workspace.session_id,
            origin=workspace.origin,
            advise=workspace.advise,
            merge_seconds=0.0,
        )
        self.health = f"all is kept in a journal; its records join the archive once it can be used; now {reason}"
        self._archives = place

    @property
    def journal(self) -> str:
        """The folder of the journal."""
        return self.place.folder

    @property
    def waiting(self) -> list[str]:
        """Nothing is merged into what is to be merged itself."""
        return []

    def open_archive(self) -> Archive:
        """The archive of the journal, with what the state file shows."""
        trusted = self._archives.digest_path
        return open_journal(self.journal, self.seconds, self.masker, carried=self.place, trusted=trusted)
