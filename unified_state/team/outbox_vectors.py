"""The vectors of an archive's steps as a server is told of them, in the order in which they were made.

A server takes the vector of a step that it has, and no other one: so those of steps that are still to be told wait.
"""

from __future__ import annotations

from itertools import takewhile
from struct import unpack

from unified_state.lib.record import Record
from unified_state.memory.archive.steps import uuid_text
from unified_state.search.vectors.model_table import full_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from unified_state.memory.archive.archive import Archive

_OTHERS = "server = ?1 AND model NOT IN (SELECT id FROM vector_model WHERE name = ?2)"
_NEXT = """
SELECT vector.id, uuid, block, embedding, step.id <= outbox_server.step, NOT EXISTS (
    SELECT 1 FROM vector AS later JOIN vector_model AS other ON other.id = later.model
    WHERE later.step = vector.step AND later.id > vector.id AND other.name = ?5
) FROM vector JOIN step ON step.id = vector.step JOIN outbox_server ON outbox_server.id = ?1
WHERE vector.id > ?3 AND model = ?2
    AND NOT EXISTS (SELECT 1 FROM outbox WHERE server = ?1 AND is_gone = 0 AND what = 'step')
ORDER BY vector.id LIMIT ?4
"""
# A number may be given again once its vector is gone, and then the model has another stamp. A step that took another
# name moved the position back.
_SETTLE = """
UPDATE outbox_vectors SET position = ?4 WHERE server = ?1 AND model = ?2 AND position = ?3
    AND EXISTS (SELECT 1 FROM vector_model WHERE id = ?2 AND stamp = ?5)
"""


class VectorBatch(Record):
    """Vectors of one version of a model, each with the uuid and the block of its step; none of a step that has one of
    a newer version. `settle` notes that the server took them.
    """

    model: str
    vectors: list[tuple[str, int, tuple[float, ...]]]
    settle: Callable[[], None]


def vector_batches(archive: Archive, server: str, model: str | None, limit: int = 500) -> Iterator[VectorBatch]:
    """What a server is to be told of a model's vectors, in all its versions; each batch has to be settled before the
    next one is asked for. What waits of other models waits no more.
    """
    (number,) = archive.row("SELECT id FROM outbox_server WHERE name = ?", server)
    with archive.transaction(durable=False):
        archive.run(f"DELETE FROM outbox_vectors WHERE {_OTHERS}", number, model)
        archive.run(
            "INSERT OR IGNORE INTO outbox_vectors (server, model) SELECT ?, id FROM vector_model WHERE name = ?",
            number,
            model,
        )
    for (version,) in archive.rows("SELECT model FROM outbox_vectors WHERE server = ? ORDER BY model", number):
        while (batch := _next(archive, number, version, limit)) is not None:
            yield batch


def _next(archive: Archive, server: int, model: int, limit: int) -> VectorBatch | None:
    position, stamp, name, version = archive.row(
        "SELECT position, stamp, name, version FROM outbox_vectors JOIN vector_model ON vector_model.id = model "
        "WHERE server = ? AND model = ?",
        server,
        model,
    )
    rows = [*takewhile(lambda row: row[4], archive.rows(_NEXT, server, model, position, limit, name))]
    if not rows:
        return None

    def settle() -> None:
        with archive.transaction(durable=False):
            archive.run(_SETTLE, server, model, position, rows[-1][0], stamp)

    vectors = [
        (uuid_text(uuid), block, unpack(f"<{len(blob) // 2}e", blob))
        for _, uuid, block, blob, _, is_newest in rows
        if is_newest
    ]
    return VectorBatch(full_name(name, version), vectors, settle)
