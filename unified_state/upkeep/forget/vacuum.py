"""Make the file smaller: merge the index, then SQLite's VACUUM, which writes the archive anew without free pages.

Other processes wait for the latter, about a second for 100 MB, so it only runs where the user asks for it.
"""

from __future__ import annotations

from unified_state.archive.archive import Archive
from unified_state.archive.small_steps import rewrite_index
from unified_state.project.workspace.workspace import Workspace


def vacuum(workspace: Workspace) -> tuple[int, int]:
    """Merge the index in small steps, then write the archive anew without its free pages. Return the bytes of its file,
    or of the journal, before and after.
    """

    def action(archive: Archive) -> tuple[int, int]:
        before = archive.size()
        rewrite_index(archive)
        archive.run("VACUUM")
        return before, archive.size()

    return workspace.use(action)


def free_bytes(archive: Archive) -> int:
    """Return the bytes of an archive's free pages, which new records fill first."""
    if archive.has_journal:
        return 0
    return int(archive.value("PRAGMA freelist_count") or 0) * int(archive.value("PRAGMA page_size") or 0)
