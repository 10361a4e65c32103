"""Remove the vectors that are no longer wanted. This needs neither the model nor its packages."""

from __future__ import annotations

import os

from unified_state.archive.archive import Archive
from unified_state.archive.small_steps import rewrite_index
from unified_state.archive.vector_table import drop_vectors
from unified_state.errors import StorageError
from unified_state.lib.files import FileLock
from unified_state.lib.record import Record
from unified_state.project.workspace.workspace import Workspace
from unified_state.setting_table import MINILM_NAME

_LOCK = "embed.lock"


class RemovedVectors(Record):
    """The result: the number of removed vectors of the model, and the size of the archive afterwards."""

    model: str
    removed: int
    archive_bytes: int


def vector_lock(workspace: Workspace) -> FileLock:
    """Return the lock of the one run that makes or removes vectors of a repository."""
    message = "another process is making vectors for this repository"
    busy = StorageError(message, "it goes on where one was ended; wait for it")
    return FileLock(os.path.join(workspace.place.folder, _LOCK), 0, busy)


def remove_vectors(workspace: Workspace) -> RemovedVectors:
    """Remove the vectors of the model in all its versions.

    Raises StorageError if a run is making vectors.
    """

    def action(archive: Archive) -> RemovedVectors:
        removed = drop_vectors(archive, MINILM_NAME)
        if removed:
            rewrite_index(archive)
        return RemovedVectors(MINILM_NAME, removed, archive.size())

    with vector_lock(workspace):
        return workspace.use(action)
