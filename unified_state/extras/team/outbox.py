"""The outbox: the records of an archive that a server lacks, in batches.

The caller reads a batch, sends it, and settles it after the server stored it. An interrupted batch is sent again, which
changes nothing on a server that has it. Deletions and masked texts are sent first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import blake2b
from itertools import takewhile
from struct import unpack
from typing import Any

from unified_state.archive.archive import BODY_SIZE, Archive
from unified_state.archive.schema.outbox_triggers import LINK_KEY, make_triggers, note_everything
from unified_state.archive.steps import uuid_text
from unified_state.archive.vector_table import full_name
from unified_state.extras.team.rows import OutgoingRecord
from unified_state.ledger.item_table import items_called
from unified_state.lib.json_text import dump_json
from unified_state.lib.record import Record, disk_value
from unified_state.model.history_records import (
    COMPACTION,
    ITEM,
    STEP,
    HistoryRecord,
    StoredLink,
    StoredSession,
    Tombstone,
)
from unified_state.upkeep.history.archive_rows import as_stored, read_compactions, read_sessions, read_steps

Statement = tuple[object, ...]  # SQL and its values


_LINK = "link"
_MOST_CHANGES = 100  # in a batch, because each takes several round trips and a background run has a minute
_MOST_BYTES = 1 << 20  # of packed texts in one batch
# An output that was archived before its entry follows the step before that entry.
_PLACE = "coalesce((SELECT place + 0.5 FROM shortened WHERE shortened.step = step.id), step.id)"
_COPIES = (
    f"SELECT step.id AS number, session.session_id AS holder, {_PLACE} AS place FROM session "
    "JOIN step_copy ON step_copy.session = session.id JOIN step ON step.id = step_copy.step "
    "WHERE kind NOT NULL AND step_copy.step > ?1 AND step_copy.step <= ?2"
)
_STEPS = (
    f"SELECT step.id AS number, NULL AS holder, {_PLACE} AS place FROM step "
    f"WHERE kind NOT NULL AND number > ?1 AND number <= ?2 UNION ALL {_COPIES}"
)
_LATE_COPIES = """
SELECT copied.session, coalesce(copies, 0), coalesce(position, 0)
FROM (SELECT session, count(*) AS number FROM step_copy WHERE step <= ?1 GROUP BY session) AS copied
LEFT JOIN outbox_session AS known ON known.session = copied.session AND server = ?2
WHERE number != coalesce(copies, 0) OR position > 0 LIMIT 1
"""
_KEEP_DIGEST = """
INSERT INTO outbox_session (server, session, digest) SELECT ?, id, ? FROM session WHERE session_id = ?
ON CONFLICT (server, session) DO UPDATE SET digest = excluded.digest
"""
_KEEP_POSITION = """
INSERT INTO outbox_session (server, session, copies, position) VALUES (?, ?, ?, ?)
ON CONFLICT (server, session) DO UPDATE SET copies = excluded.copies, position = excluded.position
"""
_COUNT_COPIES = """
INSERT INTO outbox_session (server, session, copies) VALUES (?, ?, ?)
ON CONFLICT (server, session) DO UPDATE SET copies = copies + excluded.copies
"""


class Batch(Record):
    """Records that a server has to store at once. `settle` records that it did."""

    records: list[OutgoingRecord]
    settle: Callable[[], None]


class VectorBatch(Record):
    """Vectors of one version of a model, each with the uuid and the block of its step.

    Steps with a vector of a newer version are left out. `settle` records that the server stored the vectors.
    """

    model: str
    vectors: list[tuple[str, int, tuple[float, ...]]]
    settle: Callable[[], None]


class Outbox:
    """The records of an archive that one server lacks. `limit` is the most steps or other records in a batch."""

    def __init__(self, archive: Archive, server: str, now: int, limit: int = 500) -> None:
        """Queue everything for a server that is new to the archive."""
        self._archive, self._now, self._limit = archive, now, limit
        with archive.transaction():
            make_triggers(archive)
            is_new = archive.run("INSERT OR IGNORE INTO outbox_server (name) VALUES (?)", server)
            (self._server,) = archive.row("SELECT id FROM outbox_server WHERE name = ?", server)
            if is_new:
                note_everything(archive, self._server)

    def batches(self) -> Iterator[Batch]:
        """Yield the queued batches in order, until the server has everything. Settle each batch before the next."""
        is_complete = False
        while not is_complete:
            is_complete = True
            for next_of_kind in (self._sessions, self._late_copies, self._new_steps, self._changes):
                while (batch := self._forgotten() or self._masked() or next_of_kind()) is not None:
                    is_complete = False
                    yield batch

    def _forgotten(self) -> Batch | None:
        rows = self._noted("is_gone = 1")
        return self._changed([OutgoingRecord(self._tombstone(what, key)) for _, what, key in rows], rows)

    def _tombstone(self, what: str, key: str) -> Tombstone:
        """Return the tombstone of a record. A renamed record gets a new tombstone, because its old name is deleted on
        the server.
        """
        row = self._archive.row("SELECT at FROM tombstone WHERE what = ? AND key = ?", what, key)
        return Tombstone(what, key, row[0] if row else self._now)

    def _masked(self) -> Batch | None:
        """Return the steps that the server may still have unmasked."""
        rows = self._noted(f"is_gone = 0 AND what = '{STEP}' AND is_changed = 1 AND key <= {self._reached()}")
        return self._changed(self._steps([key for _, _, key in rows]), rows)

    def _changes(self) -> Batch | None:
        rows = self._noted("is_gone = 0", _MOST_CHANGES)
        keys: dict[str, list[Any]] = {what: [] for what in (STEP, ITEM, _LINK, COMPACTION)}
        for _, what, key in rows:
            keys[what].append(key)
        items = [item for uuid in keys[ITEM] for item in items_called(self._archive, uuid)]
        links = f"SELECT from_uuid, to_uuid, relation, at FROM item_link WHERE {LINK_KEY.format('item_link')} = ?"
        others: list[HistoryRecord] = [
            *as_stored(self._archive, items),
            *(StoredLink(*row) for key in keys[_LINK] for row in self._archive.rows(links, key)),
            *(found for found in read_compactions(self._archive) if found.boundary_uuid in keys[COMPACTION]),
        ]
        return self._changed([*self._steps(keys[STEP]), *map(OutgoingRecord, others)], rows)

    def _steps(self, numbers: list[int]) -> list[OutgoingRecord]:
        return [step for number in numbers for step in _read(self._archive, _STEPS, number - 1, number)]

    def _noted(self, condition: str, most: int | None = None) -> list[Any]:
        rows = self._archive.rows(
            f"SELECT outbox.id, what, key, {BODY_SIZE} FROM outbox LEFT JOIN step ON what = 'step' AND step.id = key "
            f"WHERE server = ? AND {condition} "
            f"ORDER BY what = '{_LINK}', outbox.id LIMIT ?",  # a link follows both of its items
            self._server,
            min(self._limit, most or self._limit),
        )
        return [row[:3] for row in rows[: _last_that_fits([(place, row[3]) for place, row in enumerate(rows, 1)])]]

    def _changed(self, records: list[OutgoingRecord], rows: list[Any]) -> Batch | None:
        """Return the batch of some rows of the outbox. Changes made since have other numbers and stay queued."""
        return self._batch(records, *(("DELETE FROM outbox WHERE id = ?", row[0]) for row in rows)) if rows else None

    def _sessions(self) -> Batch | None:
        known = dict(
            self._archive.rows(
                "SELECT session_id, digest FROM outbox_session JOIN session ON id = session WHERE server = ?",
                self._server,
            )
        )
        digests = {session: _digest(session) for session in read_sessions(self._archive)}
        changed = [session for session, digest in digests.items() if digest != known.get(session.session_id)][
            : self._limit
        ]
        statements = ((_KEEP_DIGEST, self._server, digests[session], session.session_id) for session in changed)
        return self._batch([*map(OutgoingRecord, changed)], *statements) if changed else None

    def _late_copies(self) -> Batch | None:
        """Return steps that the server has, and that were later found in another session too.

        Copies arrive in any order, also during the transfer. So a session with more copies than were sent has all of
        them sent again.
        """
        reached = self._reached()
        row = self._archive.row(_LATE_COPIES, reached, self._server)
        if row is None:
            return None
        session, told, position = row
        steps = self._archive.rows(
            f"SELECT step, {BODY_SIZE} FROM step_copy JOIN step ON step.id = step "
            "WHERE session = ? AND step > ? AND step <= ? ORDER BY step LIMIT ?",
            session,
            position,
            reached,
            self._limit,
        )
        last = _last_that_fits(steps)
        copies = (told if position else 0) + sum(number <= last for number, _ in steps)
        found = _read(self._archive, f"{_COPIES} AND session.id = ?3", position, last, session)
        return self._batch([*found], (_KEEP_POSITION, self._server, session, copies, last))

    def _new_steps(self) -> Batch | None:
        archive, reached = self._archive, self._reached()
        steps = archive.rows(f"SELECT id, {BODY_SIZE} FROM step WHERE id > ? ORDER BY id LIMIT ?", reached, self._limit)
        if not steps:
            return None
        last = _last_that_fits(steps)
        # From now on the server may have them. Masking or renaming before its answer must be queued.
        with archive.transaction(durable=False):
            archive.run("UPDATE outbox_server SET offered = max(offered, ?) WHERE id = ?", last, self._server)
        copies = archive.rows(  # only the sent copies; a copy that arrives before the batch is settled is late
            "SELECT session, count(*) FROM session JOIN step_copy ON session = session.id "
            "AND step > ? AND step <= ? GROUP BY session",
            reached,
            last,
        )
        return self._batch(
            [*_read(archive, _STEPS, reached, last)],
            ("UPDATE outbox_server SET step = ? WHERE id = ?", last, self._server),
            *((_COUNT_COPIES, self._server, session, number) for session, number in copies),
        )

    def _reached(self) -> int:
        return int(self._archive.row("SELECT step FROM outbox_server WHERE id = ?", self._server)[0])

    def _batch(self, records: list[OutgoingRecord], *statements: Statement) -> Batch:
        return Batch(records, _settling(self._archive, statements))


def _settling(archive: Archive, statements: tuple[Statement, ...]) -> Callable[[], None]:
    """Return a function that runs statements in a transaction. Statements lost in a power failure lead to a repeated
    transfer.
    """

    def settle() -> None:
        with archive.transaction(durable=False):
            for sql, *values in statements:
                archive.run(str(sql), *values)

    return settle


def _digest(session: StoredSession) -> str:
    return blake2b(dump_json(disk_value(session)).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _last_that_fits(steps: list[tuple[int, int | None]]) -> int:
    """Return the last step that fits into a batch, from numbers with sizes: at least the first one, 0 if there is
    none.
    """
    last, room = 0, _MOST_BYTES
    for number, size in steps:
        room -= size or 0
        if last and room < 0:
            break
        last = number
    return last


def _read(archive: Archive, query: str, *values: int) -> list[OutgoingRecord]:
    """Read the steps that a query selects, in order, in the sessions that contain them."""
    rows = archive.rows(f"{query} ORDER BY place, number, holder", *values)
    numbers: dict[str | None, list[int]] = {}
    for number, holder, _ in rows:
        numbers.setdefault(holder, []).append(number)
    read = {holder: read_steps(archive, chosen, holder) for holder, chosen in numbers.items()}
    return [
        OutgoingRecord(read[holder][number], f"S{number}", is_copy=holder is not None)
        for number, holder, _ in rows
        if number in read[holder]
    ]


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
# A number may be reused once its vector is deleted, and then the model has another stamp. Renaming a step moves the
# position back.
_SETTLE = """
UPDATE outbox_vectors SET position = ?4 WHERE server = ?1 AND model = ?2 AND position = ?3
    AND EXISTS (SELECT 1 FROM vector_model WHERE id = ?2 AND stamp = ?5)
"""


def vector_batches(archive: Archive, server: str, model: str | None, limit: int = 500) -> Iterator[VectorBatch]:
    """Yield the vectors of a model, in all its versions, that a server lacks. Settle each batch before the next.

    Vectors of other models are removed from the queue.
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
    vectors = [
        (uuid_text(uuid), block, unpack(f"<{len(blob) // 2}e", blob))
        for _, uuid, block, blob, _, is_newest in rows
        if is_newest
    ]
    settle = _settling(archive, ((_SETTLE, server, model, position, rows[-1][0], stamp),))
    return VectorBatch(full_name(name, version), vectors, settle)
