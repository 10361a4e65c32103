"""Make vectors for the steps of an archive, the newest first, in small batches, and remove them.

Each batch is one commit, so an interrupted run resumes where it stopped. One run is active at a time, and hooks never
embed. A vector is stored only if its text is unchanged. To remove vectors needs neither the model nor its packages.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from unified_state.archive.archive import Archive
from unified_state.archive.text_columns import rewrite_index
from unified_state.errors import StorageError
from unified_state.extras.vectors.open_model import open_model
from unified_state.extras.vectors.vector_table import (
    add_vectors,
    count_embeddable,
    count_vectors,
    drop_vectors,
    model_number,
    steps_without,
    text_to_embed,
)
from unified_state.lib.files import FileLock
from unified_state.lib.record import Record
from unified_state.project.workspace.workspace import Workspace
from unified_state.setting_table import MINILM_NAME

if TYPE_CHECKING:
    from unified_state.extras.vectors.minilm import MiniLm

Report = Callable[[int], None]

_LOCK = "embed.lock"
_BATCH = 64  # most steps lost if a run is killed: some seconds of work


class EmbeddingResult(Record):
    """The result of a run: vectors added, steps without usable text, total vectors of the model, total steps."""

    model: str
    version: str
    added: int
    unreadable: int
    vectors: int
    steps: int


def embed(workspace: Workspace, limit: int | None, begin: Callable[[int], Report]) -> EmbeddingResult:
    """Make vectors for steps that have none, up to the limit. Return the result.

    Raises StorageError if another run is active. `begin` receives the number of steps to do, and returns a function
    that is called after each batch. Vectors of the model's other versions stay until all steps have one of this
    version.
    """
    model = open_model(workspace.settings.minilm_folder)
    with vector_lock(workspace):
        return workspace.use(lambda archive: _embed(archive, model, limit, begin))


def _embed(archive: Archive, model: MiniLm, limit: int | None, begin: Callable[[int], Report]) -> EmbeddingResult:
    number = model_number(archive, model.name, model.version, model.dimensions)
    missing = max(0, count_embeddable(archive) - count_vectors(archive, number))
    report = begin(missing if limit is None else min(limit, missing))
    added, unreadable = 0, 0
    left, before = sys.maxsize if limit is None else limit, sys.maxsize
    while batch := steps_without(archive, number, min(_BATCH, left), before):
        vectors = model.encode([text for _, text in batch])
        found = [(*one, vector) for one, vector in zip(batch, vectors, strict=True) if vector is not None]
        kept = _keep(archive, number, found)
        added, unreadable = added + kept, unreadable + len(batch) - len(found)
        left, before = left - kept, batch[-1][0]
        report(len(batch))
    if left:
        drop_vectors(archive, model.name, but=number)
    return EmbeddingResult(
        model.name, model.version, added, unreadable, count_vectors(archive, number), count_embeddable(archive)
    )


def _keep(archive: Archive, number: int, found: list[tuple[int, str, bytes]]) -> int:
    """Store the vectors of a batch, except for steps whose text was forgotten or masked since. Return the number
    stored.
    """
    with archive.transaction(durable=False):
        same = [(step, vector) for step, text, vector in found if text_to_embed(archive, step) == text]
        return add_vectors(archive, number, same)


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
