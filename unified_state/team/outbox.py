"""The outbox: what a server does not have yet of an archive, batch by batch.

The caller reads a batch, sends it to the server, and settles it here once the server has it. A batch that was cut off
in between is sent again, which changes nothing on a server that has it. Deletions and masked texts go first.
"""

from __future__ import annotations

from hashlib import blake2b
from itertools import takewhile
from struct import unpack

from unified_state.lib.record import Record, disk_value
from unified_state.lib.stdlib import dump_json
from unified_state.memory.archive.schema.outbox_triggers import LINK_KEY, make_triggers, note_everything
from unified_state.memory.archive.sessions import STAND_IN
from unified_state.memory.archive.steps import uuid_text
from unified_state.memory.archive.vector_table import full_name
from unified_state.memory.history.archive_rows import as_stored, read_compactions, read_sessions, read_steps
from unified_state.memory.ledger.item_table import items_called
from unified_state.model.history_records import COMPACTION, ITEM, STEP, StoredLink, Tombstone

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from unified_state.memory.archive.archive import Archive
    from unified_state.model.history_records import HistoryRecord, StoredItem, StoredSession, StoredStep


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


_LINK = "link"
_MOST_CHANGES = 100  # in a batch: each takes a server some round trips, and a run in the background has a minute


class Batch(Record):
    """Records that a server shall take in at once. `settle` notes that it did."""

    records: list[HistoryRecord]
    settle: Callable[[], None]


class Outbox:
    """What one server is to be told of an archive. `limit` is the most steps, or other things, in a batch."""

    def __init__(self, archive: Archive, server: str, now: int, limit: int = 500) -> None:
        self._archive = archive
        self._now = now
        self._limit = limit
        self._server = self._known(server)

    def batches(self) -> Iterator[Batch]:
        """What is to be told, in order, until the server has everything; each has to be settled before the next one is
        asked for.
        """
        is_complete = False
        while not is_complete:
            is_complete = True
            for next_of_kind in (self._sessions, self._late_copies, self._new_steps, self._changes):
                while (batch := self._forgotten() or self._masked() or next_of_kind()) is not None:
                    is_complete = False
                    yield batch

    def _known(self, name: str) -> int:
        """The number of a server. When it is met first, all there is gets noted for it."""
        archive = self._archive
        with archive.transaction():
            make_triggers(archive)
            is_new = archive.run("INSERT OR IGNORE INTO outbox_server (name) VALUES (?)", name)
            (number,) = archive.row("SELECT id FROM outbox_server WHERE name = ?", name)
            if is_new:
                note_everything(archive, number)
        return int(number)

    def _forgotten(self) -> Batch | None:
        rows = self._noted("is_gone = 1")
        return self._batch([self._tombstone(what, key) for _, what, key in rows], rows) if rows else None

    def _tombstone(self, what: str, key: str) -> Tombstone:
        """What took another name leaves the server alone, and has no tombstone here."""
        row = self._archive.row("SELECT at FROM tombstone WHERE what = ? AND key = ?", what, key)
        return Tombstone(what, key, row[0] if row else self._now)

    def _masked(self) -> Batch | None:
        """The steps that the server has, and may have unmasked."""
        rows = self._noted(f"is_gone = 0 AND what = '{STEP}' AND is_changed = 1 AND key <= {self._reached()}")
        return self._batch(self._steps([key for _, _, key in rows]), rows) if rows else None

    def _steps(self, numbers: list[int]) -> list[HistoryRecord]:
        return [step for number in numbers for step in steps_between(self._archive, number - 1, number)]

    def _changes(self) -> Batch | None:
        rows = self._noted("is_gone = 0", _MOST_CHANGES)
        keys: dict[str, list[Any]] = {what: [] for what in (STEP, ITEM, _LINK, COMPACTION)}
        for _, what, key in rows:
            keys[what].append(key)
        records: list[HistoryRecord] = [
            *self._steps(keys[STEP]),
            *self._items(keys[ITEM]),
            *(link for key in keys[_LINK] for link in self._links(key)),
            *(found for found in read_compactions(self._archive) if found.boundary_uuid in keys[COMPACTION]),
        ]
        return self._batch(records, rows) if rows else None

    def _items(self, uuids: list[str]) -> list[StoredItem]:
        return as_stored(self._archive, [item for uuid in uuids for item in items_called(self._archive, uuid)])

    def _links(self, key: str) -> list[StoredLink]:
        rows = self._archive.rows(
            f"SELECT from_uuid, to_uuid, relation, at FROM item_link WHERE {LINK_KEY.format('item_link')} = ?", key
        )
        return [StoredLink(*row) for row in rows]

    def _noted(self, condition: str, most: int | None = None) -> list[Any]:
        rows = self._archive.rows(
            f"SELECT id, what, key FROM outbox WHERE server = ? AND {condition} "
            f"ORDER BY what = '{_LINK}', id LIMIT ?",  # both items of a link are to be known
            self._server,
            min(self._limit, most or self._limit),
        )
        sizes = [(place, self._size(key) if what == STEP else 0) for place, (_, what, key) in enumerate(rows, 1)]
        return rows[: last_that_fits(sizes)] if rows else []

    def _size(self, step: int | str) -> int | None:
        """The packed size of a step by its number; one that is gone is named, and has none."""
        row = self._archive.row("SELECT length(body) FROM step WHERE id = ?", step)
        return None if row is None else row[0]

    def _batch(self, records: list[HistoryRecord], rows: list[Any]) -> Batch:
        """What changes in the meantime has another number by then, and stays to be told."""

        def settle() -> None:
            for number, *_ in rows:
                self._archive.run("DELETE FROM outbox WHERE id = ?", number)

        return Batch(records, self._in_transaction(settle))

    def _sessions(self) -> Batch | None:
        known = dict(
            self._archive.rows(
                "SELECT session_id, digest FROM outbox_session JOIN session ON id = session WHERE server = ?",
                self._server,
            )
        )
        digests = {session: _digest(session) for session in read_sessions(self._archive)}
        changed = [
            session
            for session, digest in digests.items()
            if digest != known.get(session.session_id) and session.session_id != STAND_IN
        ]
        chosen = changed[: self._limit]

        def settle() -> None:
            for session in chosen:
                self._archive.run(
                    "INSERT INTO outbox_session (server, session, digest) "
                    "SELECT ?, id, ? FROM session WHERE session_id = ? "
                    "ON CONFLICT (server, session) DO UPDATE SET digest = excluded.digest",
                    self._server,
                    digests[session],
                    session.session_id,
                )

        return Batch(list(chosen), self._in_transaction(settle)) if chosen else None

    def _late_copies(self) -> Batch | None:
        """Steps that a server has, and that another session turned out to hold too. Whenever there are more of a
        session than were told, all of its are told again, since they come in any order, also while they are told.
        """
        reached = self._reached()
        row = self._archive.row(
            "SELECT copied.session, coalesce(copies, 0), coalesce(position, 0) FROM (SELECT session, count(*) "
            "AS number FROM step_copy WHERE step <= ?1 GROUP BY session) AS copied LEFT JOIN outbox_session AS known "
            "ON known.session = copied.session AND server = ?2 "
            "WHERE number != coalesce(copies, 0) OR position > 0 LIMIT 1",
            reached,
            self._server,
        )
        if row is None:
            return None
        session, told, position = row
        steps = self._archive.rows(
            "SELECT step, length(body) FROM step_copy JOIN step ON step.id = step "
            "WHERE session = ? AND step > ? AND step <= ? ORDER BY step LIMIT ?",
            session,
            position,
            reached,
            self._limit,
        )
        last = last_that_fits(steps) if steps else 0
        copies = (told if position else 0) + sum(number <= last for number, _ in steps)

        def settle() -> None:
            self._archive.run(
                "INSERT INTO outbox_session (server, session, copies, position) VALUES (?, ?, ?, ?) ON CONFLICT "
                "(server, session) DO UPDATE SET copies = excluded.copies, position = excluded.position",
                self._server,
                session,
                copies,
                last,
            )

        return Batch([*copies_between(self._archive, session, position, last)], self._in_transaction(settle))

    def _new_steps(self) -> Batch | None:
        archive, reached = self._archive, self._reached()
        steps = archive.rows("SELECT id, length(body) FROM step WHERE id > ? ORDER BY id LIMIT ?", reached, self._limit)
        if not steps:
            return None
        last = last_that_fits(steps)
        # From now on the server may have them: what is masked or renamed before it says so must be told.
        with archive.transaction(durable=False):
            archive.run("UPDATE outbox_server SET offered = max(offered, ?) WHERE id = ?", last, self._server)
        copies = archive.rows(
            "SELECT session, count(*) FROM session JOIN step_copy ON session = session.id "
            "AND step > ? AND step <= ? GROUP BY session",
            reached,
            last,
        )

        def settle() -> None:
            archive.run("UPDATE outbox_server SET step = ? WHERE id = ?", last, self._server)
            for session, number in copies:
                archive.run(
                    "INSERT INTO outbox_session (server, session, copies) VALUES (?, ?, ?) "
                    "ON CONFLICT (server, session) DO UPDATE SET copies = copies + excluded.copies",
                    self._server,
                    session,
                    number,
                )

        return Batch([*steps_between(archive, reached, last)], self._in_transaction(settle))

    def _reached(self) -> int:
        return int(self._archive.row("SELECT step FROM outbox_server WHERE id = ?", self._server)[0])

    def _in_transaction(self, change: Callable[[], None]) -> Callable[[], None]:
        """What is lost of it with the power is told again."""

        def settle() -> None:
            with self._archive.transaction(durable=False):
                change()

        return settle


def _digest(session: StoredSession) -> str:
    return blake2b(dump_json(disk_value(session)).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
