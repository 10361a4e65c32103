"""Append records to the server: one COPY, then a fixed number of statements in one transaction.

The row of a project is locked while the server assigns numbers. So numbers only grow in the order in which rows become
visible, and none is assigned twice. Records are copied before that, so a slow client does not block others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from unified_state.model.history_records import (
    HistoryRecord,
    StoredCompaction,
    StoredItem,
    StoredLink,
    StoredSession,
    StoredStep,
    Tombstone,
)
from unified_state.team.postgres.connections import Asker
from unified_state.team.postgres.forget_rows import Batch, Forgetting
from unified_state.team.postgres.keep_records import keep_compactions, keep_items, keep_links, keep_sessions
from unified_state.team.postgres.postgres_values import STEP_COLUMNS, to_extra, to_text
from unified_state.team.postgres.send_steps import SentSteps
from unified_state.team.postgres.step_words import (
    OF_INCOMING,
    SESSION_OF_INCOMING,
    WORDS,
    place_guessed,
    put_in_place,
    searched_text,
)

if TYPE_CHECKING:
    from psycopg import Connection

STEP_NAMES = ", ".join((*(column.name for column in STEP_COLUMNS), "unknown"))
_TYPES = ["bigint", "text", *(column.type for column in STEP_COLUMNS), "text", "text"]
_COLUMNS = f"ordinal, session_id, {STEP_NAMES}, searched".split(", ")
_INCOMING = (
    "CREATE TEMPORARY TABLE IF NOT EXISTS unified_state_incoming ("
    + ", ".join(map(" ".join, zip(_COLUMNS, _TYPES, strict=True)))
    + ") ON COMMIT DELETE ROWS"
)
# Look up the batch in the table, never the table in the batch.
_PLANNING = "SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL enable_seqscan = off"
_INSERT = f"""
WITH added AS (
    INSERT INTO unified_state.step (project, author, number, session, {STEP_NAMES})
    SELECT %(project)s, %(author)s, %(last)s + ordinal, session.number, {STEP_NAMES}
    FROM pg_temp.unified_state_incoming AS incoming JOIN {SESSION_OF_INCOMING}
    ORDER BY ordinal
    ON CONFLICT (project, author, uuid, block) DO NOTHING
    RETURNING number
), indexed AS (
    INSERT INTO unified_state.step_words (project, author, number, words)
    SELECT %(project)s, %(author)s, number, {WORDS.format(searched="searched", number="number")}
    FROM added JOIN pg_temp.unified_state_incoming ON ordinal = number - %(last)s
    WHERE searched <> ''
)
SELECT count(*) FROM added
"""
_MARK_COPIES = f"""
INSERT INTO unified_state.step_copy (project, author, session, number, step)
SELECT %(project)s, %(author)s, session.number, %(last)s + ordinal, step.number
FROM pg_temp.unified_state_incoming AS incoming JOIN {SESSION_OF_INCOMING} JOIN unified_state.step ON {OF_INCOMING}
WHERE step.session <> session.number
ORDER BY ordinal
ON CONFLICT (project, session, step, author) DO NOTHING
"""


def append(connection: Connection[Any], asker: Asker, records: Iterable[HistoryRecord]) -> int:
    """Append records within the open transaction. Return how many are new."""
    incoming = SentSteps(connection, asker) if asker.is_distributed else CopiedSteps(connection, asker)
    batch = _gather(incoming, records)
    asker.lock(connection)
    connection.execute(_PLANNING)
    forgetting = Forgetting(connection, asker, batch)
    incoming.leave_out(forgetting.gone)
    keep_sessions(connection, asker, forgetting)
    steps = copies = 0
    if batch.steps:
        last = asker.take(connection, len(batch.steps))
        steps = incoming.insert(last)
        if steps < len(batch.steps):
            copies = incoming.mark_copies(last)
        put_in_place(connection, asker, batch.masked)
    kept = sum(keep(connection, asker, forgetting) for keep in (keep_items, keep_links, keep_compactions))
    taken = forgetting.apply()
    connection.execute(
        "SELECT unified_state.note_volume(%(project)s, %(author)s, %(added)s)", asker.given(added=steps - taken)
    )
    return forgetting.added + steps + copies + kept


def _gather(incoming: CopiedSteps | SentSteps, records: Iterable[HistoryRecord]) -> Batch:
    """Take the steps while they are read. Return them by their keys, and the other records by kind."""
    batch = Batch()
    others: dict[type, list[Any]] = {
        StoredSession: batch.sessions,
        StoredItem: batch.items,
        StoredLink: batch.links,
        StoredCompaction: batch.compactions,
        Tombstone: batch.tombstones,
    }
    with incoming.receiving() as take:
        for record in records:
            if not isinstance(record, StoredStep):
                others[type(record)].append(record)
                continue
            batch.steps.append((record.session_id, f"{record.uuid}/{record.block}", record.at))
            if record.masked_at is not None:
                batch.masked.append(record)
            values = (column.encode(getattr(record, column.field)) for column in STEP_COLUMNS)
            take((len(batch.steps), to_text(record.session_id), *values, to_extra(record), searched_text(record)))
    return batch


class CopiedSteps:
    """The steps of an append in a temporary table of a plain server."""

    def __init__(self, connection: Connection[Any], asker: Asker) -> None:
        self._connection, self._asker = connection, asker
        connection.execute(_INCOMING)

    @contextmanager
    def receiving(self) -> Iterator[Callable[[Sequence[Any]], None]]:
        """Yield the function that takes the values of a step."""
        with self._connection.cursor().copy("COPY pg_temp.unified_state_incoming FROM STDIN (FORMAT binary)") as copy:
            copy.set_types(_TYPES)
            yield copy.write_row

    def leave_out(self, gone: set[int]) -> None:
        """Remove forgotten steps, by their ordinals."""
        if gone:
            self._connection.execute("DELETE FROM pg_temp.unified_state_incoming WHERE ordinal = ANY(%s)", [list(gone)])

    def insert(self, last: int) -> int:
        """Store the steps with the numbers after `last`, and their words. Return how many are new."""
        (steps,) = self._connection.execute(_INSERT, self._asker.given(last=last)).fetchone() or (0,)
        return int(steps)

    def mark_copies(self, last: int) -> int:
        """Note the steps of which another session is known to have the same. Return how many are new."""
        place_guessed(self._connection, self._asker)
        return self._connection.execute(_MARK_COPIES, self._asker.given(last=last)).rowcount
