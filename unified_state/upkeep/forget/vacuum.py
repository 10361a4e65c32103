"""Make the file smaller: merge the index, then SQLite's VACUUM, which writes the archive anew without free pages.

Other processes wait for the latter, about a second for 100 MB, so it only runs where the user asks for it.
"""

from __future__ import annotations

from unified_state.archive.archive import Archive
from unified_state.archive.small_steps import rewrite_index
from unified_state.lib.record import Record
from unified_state.project.workspace.workspace import Workspace


class Vacuumed(Record):
    """The bytes of the archive's file, or of the journal, before and after."""

    before: int
    after: int


def vacuum(workspace: Workspace) -> Vacuumed:
    """Merge the index in small steps, then write the archive anew without its free pages."""

    def action(archive: Archive) -> Vacuumed:
        before = archive.size()
        rewrite_index(archive)
        archive.run("VACUUM")
        return Vacuumed(before, archive.size())

    return workspace.use(action)


def free_bytes(archive: Archive) -> int:
    """Return the bytes of an archive's free pages, which new records fill first."""
    if archive.has_journal:
        return 0
    return int(archive.value("PRAGMA freelist_count") or 0) * int(archive.value("PRAGMA page_size") or 0)
