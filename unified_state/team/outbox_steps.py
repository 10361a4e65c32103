"""The steps of an archive as a server is told of them: in order, once for each session that holds them."""

from __future__ import annotations

from itertools import takewhile
from struct import unpack

from unified_state.lib.record import Record
from unified_state.memory.archive.steps import uuid_text
from unified_state.memory.archive.vectors.vector_table import full_name
from unified_state.memory.history.archive_rows import read_steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from unified_state.memory.archive.archive import Archive
    from unified_state.model.history_records import StoredStep


_MOST_BYTES = 1 << 20  # of packed texts in one batch
# An output that was archived before its entry stands behind the step before that.
_PLACE = "coalesce((SELECT place + 0.5 FROM shortened WHERE shortened.step = step.id), step.id)"
_OF_COPIES = (
    f"SELECT step.id AS number, session.session_id AS holder, {_PLACE} AS place FROM session "
    "JOIN step_copy ON step_copy.session = session.id JOIN step ON step.id = step_copy.step WHERE kind NOT NULL AND "
)
_OWN = f"SELECT step.id AS number, NULL AS holder, {_PLACE} AS place FROM step WHERE kind NOT NULL AND "
_IN_ORDER = " ORDER BY place, number, holder"


def steps_between(archive: Archive, after: int, last: int) -> list[StoredStep]:
    """The steps of a range of numbers, for the sessions that had them first and for those that hold copies."""
    query = f"{_OWN} number > ?1 AND number <= ?2 UNION ALL {_OF_COPIES} step_copy.step > ?1 AND step_copy.step <= ?2"
    return _read(archive, archive.rows(query + _IN_ORDER, after, last))


def copies_between(archive: Archive, session: int, after: int, last: int) -> list[StoredStep]:
    """The steps of a range of numbers that a session holds as copies."""
    query = f"{_OF_COPIES} session.id = ? AND step_copy.step > ? AND step_copy.step <= ?{_IN_ORDER}"
    return _read(archive, archive.rows(query, session, after, last))


def last_that_fits(steps: list[tuple[int, int | None]]) -> int:
    """Of steps and their sizes the last one that a batch has room for; one always."""
    room = _MOST_BYTES
    last = steps[0][0]
    for number, size in steps:
        room -= size or 0
        if room < 0:
            break
        last = number
    return last


def _read(archive: Archive, rows: list[tuple[int, str | None, float]]) -> list[StoredStep]:
    numbers: dict[str | None, list[int]] = {}
    for number, holder, _ in rows:
        numbers.setdefault(holder, []).append(number)
    read = {holder: read_steps(archive, chosen, holder) for holder, chosen in numbers.items()}
    return [read[holder][number] for number, holder, _ in rows if number in read[holder]]


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
