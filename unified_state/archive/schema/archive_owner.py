"""The repository that an archive belongs to, as the archive records it. The file at our path may be another one's."""

from __future__ import annotations

from contextlib import suppress
from sqlite3 import DatabaseError

from unified_state.archive.archive import OWNER, Archive
from unified_state.errors import ArchiveUnavailableError


def check_owner(archive: Archive, repository: str) -> None:
    """Raise ArchiveUnavailableError if the archive belongs to another repository.

    The user may have put it there, so they are asked, and nothing is written into it. An archive without an owner is
    assigned to this repository.
    """
    owner = archive.meta(OWNER)
    if owner is None:
        with suppress(DatabaseError):  # where nothing can be written, the next write reports the error
            set_owner(archive, repository)
    elif owner != repository:
        message = (
            f"the archive is another repository's ({owner}): "
            f"`unified-state link {repository}` accepts it as this one's; it lies in {archive.path}"
        )
        raise ArchiveUnavailableError(message, "if it is there by mistake, move it away; nothing is written into it")


def set_owner(archive: Archive, repository: str) -> None:
    """Set the repository that the archive belongs to."""
    archive.set_meta(OWNER, repository)
