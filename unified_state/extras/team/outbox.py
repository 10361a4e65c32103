"""The outbox: the records of an archive that a server lacks, in batches.

The caller reads a batch, sends it, and settles it after the server stored it. An interrupted batch is sent again, which
changes nothing on a server that has it. Deletions and masked texts are sent first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from struct import unpack
from typing import Any

from unified_state.archive.archive import BODY_SIZE, Archive
from unified_state.archive.schema.outbox_triggers import LINK_KEY, note_everything, note_vectors
from unified_state.extras.team.rows import OutgoingRecord
from unified_state.ledger.item_table import items_called
from unified_state.lib.record import Record
from unified_state.model.history_records import (
    COMPACTION,
    ITEM,
    SESSION,
    STEP,
    HistoryRecord,
    StoredLink,
    Tombstone,
)
from unified_state.model.step import full_name
from unified_state.upkeep.history.archive_rows import as_stored, read_compactions, read_sessions, read_steps

_LINK = "link"
_MOST_BYTES = 1 << 20  # of packed texts in one batch
# An output that was archived before its entry follows the step before that entry.
_PLACE = "coalesce((SELECT place + 0.5 FROM shortened WHERE shortened.step = step.id), step.id)"
_STEPS = f"""
SELECT step.id AS number, NULL AS holder, {_PLACE} AS place FROM step WHERE kind NOT NULL AND number > ?1
    AND number <= ?2
UNION ALL SELECT step.id AS number, session.session_id AS holder, {_PLACE} AS place FROM session
    JOIN step_copy ON step_copy.session = session.id JOIN step ON step.id = step_copy.step
    WHERE kind NOT NULL AND step_copy.step > ?1 AND step_copy.step <= ?2
ORDER BY place, number, holder
"""
_VECTORS = """
SELECT step, embedding, version FROM vector JOIN vector_model ON vector_model.id = model
WHERE step > ? AND step <= ? AND name = ? ORDER BY vector.id
"""


class Batch(Record):
    """Records that a server has to store at once. `settle` notes that it did, and how many batches it has by that."""

    records: list[OutgoingRecord]
    settle: Callable[[int], None]


class Outbox:
    """The records of an archive that one server lacks. `limit` is the most steps or other records in a batch, and
    `mark` how many batches the server had confirmed.
    """

    def __init__(self, archive: Archive, server: str, now: int, limit: int = 500) -> None:
        """Begin a run. It counts as a failure until it ends well, because it may be killed at any moment.

        For a server that is new to the archive everything is queued.
        """
        self._archive, self._now, self._model, self._limit = archive, now, "", limit
        self._mark = f"mark of {server}"
        self.mark = int(archive.meta(self._mark) or 0)
        with archive.transaction():
            is_new = archive.run("INSERT OR IGNORE INTO outbox_server (name) VALUES (?)", server)
            (self._server,) = archive.row("SELECT id FROM outbox_server WHERE name = ?", server)
            if is_new:
                note_everything(archive.run, self._server)
            begun = "UPDATE outbox_server SET began_at = ?, failures = failures + 1 WHERE id = ?"
            archive.run(begun, now, self._server)

    def note_end(self, now: int, problem: str | None, *, is_complete: bool) -> None:
        """Note how the run ended, which went well without a problem."""
        with self._archive.transaction(durable=False):
            self._archive.run(
                "UPDATE outbox_server SET ended_at = ?1, error = ?2, "
                "failures = CASE WHEN ?2 IS NULL THEN 0 ELSE failures END, "
                "complete_at = CASE WHEN ?3 THEN ?1 ELSE complete_at END WHERE id = ?4",
                now,
                problem,
                is_complete,
                self._server,
            )

    def begin_anew(self, mark: int) -> None:
        """Queue everything again for a server that has so many batches."""
        with self._archive.transaction():
            self._archive.run("UPDATE outbox_server SET step = 0 WHERE id = ?", self._server)
            note_everything(self._archive.run, self._server)
            self._archive.set_meta(self._mark, str(mark))

    def add_vectors(self, model: str) -> None:
        """Send each step with its newest vector of a model. Queue all for a server that took none before."""
        self._model = model
        name = f"vectors of {self._server}"
        with self._archive.transaction(durable=False):
            if self._archive.meta(name) != model:
                note_vectors(self._archive.run, self._server)
                self._archive.set_meta(name, model)

    def batches(self) -> Iterator[Batch]:
        """Yield the queued batches in order, until the server has everything. Settle each batch before the next."""
        masked = f"AND what = '{STEP}' AND is_changed = 1 AND key <= (SELECT step FROM outbox_server WHERE id = server)"
        while batch := self._forgotten() or self._changes(masked) or self._new_steps() or self._changes():
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

    def _changes(self, condition: str = "") -> Batch | None:
        rows = self._noted(f"is_gone = 0 {condition}")
        keys: dict[str, list[Any]] = {what: [] for what in (SESSION, STEP, ITEM, _LINK, COMPACTION)}
        for _, what, key in rows:
            keys[what].append(key)
        items = [item for uuid in keys[ITEM] for item in items_called(self._archive, uuid)]
        links = f"SELECT from_uuid, to_uuid, relation, at FROM item_link WHERE {LINK_KEY.format('item_link')} = ?"
        others: list[HistoryRecord] = [
            *(found for found in read_sessions(self._archive) if found.session_id in keys[SESSION]),
            *as_stored(self._archive, items),
            *(StoredLink(*row) for key in keys[_LINK] for row in self._archive.rows(links, key)),
            *(found for found in read_compactions(self._archive) if found.boundary_uuid in keys[COMPACTION]),
        ]
        steps = [one for key in keys[STEP] for one in self._read(key - 1, key)]
        return self._changed([*steps, *map(OutgoingRecord, others)], rows)

    def _noted(self, condition: str) -> list[Any]:
        rows = self._archive.rows(
            f"SELECT outbox.id, what, key, {BODY_SIZE} FROM outbox LEFT JOIN step ON what = 'step' AND step.id = key "
            f"WHERE server = ? AND {condition} "
            f"ORDER BY what = '{_LINK}', outbox.id LIMIT ?",  # a link follows both of its items
            self._server,
            self._limit,
        )
        return [row[:3] for row in rows[: _last_that_fits([(place, row[3]) for place, row in enumerate(rows, 1)])]]

    def _changed(self, records: list[OutgoingRecord], rows: list[Any]) -> Batch | None:
        """Return the batch of some rows of the outbox. Changes made since have other numbers and stay queued."""
        return self._batch(records, "DELETE FROM outbox WHERE id = ?", [(row[0],) for row in rows]) if rows else None

    def _new_steps(self) -> Batch | None:
        archive = self._archive
        (reached,) = archive.row("SELECT step FROM outbox_server WHERE id = ?", self._server)
        steps = archive.rows(f"SELECT id, {BODY_SIZE} FROM step WHERE id > ? ORDER BY id LIMIT ?", reached, self._limit)
        if not steps:
            return None
        last = _last_that_fits(steps)
        # From now on the server may have them: what changes of them before its answer is queued.
        with archive.transaction(durable=False):
            archive.run("UPDATE outbox_server SET offered = max(offered, ?) WHERE id = ?", last, self._server)
        settled = "UPDATE outbox_server SET step = ? WHERE id = ?"
        return self._batch(self._read(reached, last), settled, [(last, self._server)])

    def _batch(self, records: list[OutgoingRecord], settled: str, values: list[tuple[int, ...]]) -> Batch:
        """Return a batch. What settled it and is lost in a power failure leads to a repeated transfer."""

        def settle(mark: int) -> None:
            with self._archive.transaction(durable=False):
                for row in values:
                    self._archive.run(settled, *row)
                self._archive.set_meta(self._mark, str(mark))

        return Batch(records, settle)

    def _read(self, after: int, last: int) -> list[OutgoingRecord]:
        """Read steps, in order, in all the sessions that contain them."""
        rows = self._archive.rows(_STEPS, after, last)
        vectors = {step: found for step, *found in self._archive.rows(_VECTORS, after, last, self._model)}
        numbers: dict[str | None, list[int]] = {}
        for number, holder, _ in rows:
            numbers.setdefault(holder, []).append(number)
        read = {holder: read_steps(self._archive, chosen, holder) for holder, chosen in numbers.items()}
        sent = []
        for number, holder, _ in rows:
            if number in read[holder]:
                one = OutgoingRecord(read[holder][number], f"S{number}", is_copy=holder is not None)
                if holder is None and number in vectors:
                    vector, version = vectors[number]
                    model = full_name(self._model, version)
                    one = one.replace(model=model, vector=unpack(f"<{len(vector) // 2}e", vector))
                sent.append(one)
        return sent


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
