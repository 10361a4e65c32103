"""The records of one append, by kind."""

from __future__ import annotations

from unified_state.model.history_records import (
    StoredCompaction,
    StoredItem,
    StoredLink,
    StoredSession,
    StoredStep,
    Tombstone,
)
from unified_state.team.postgres.forget_rows import Batch, Forgetting
from unified_state.team.postgres.keep_records import keep_compactions, keep_items, keep_links, keep_sessions
from unified_state.team.postgres.postgres_values import to_body, to_json, to_key, to_number, to_text
from unified_state.team.postgres.step_words import WORDS, place_guessed, put_in_place, searched_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from psycopg import Connection

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


_INCOMING = """
CREATE TEMPORARY TABLE IF NOT EXISTS unified_state_incoming (
    ordinal bigint, session_id text, uuid bytea, block bigint, kind text, at bigint, tool text, tool_use_id text,
    is_error boolean, agent text, starts_turn boolean, body bytea, unknown text, searched text,
    masked_at bigint
) ON COMMIT DELETE ROWS
"""
_TYPES = [
    "int8",
    "text",
    "bytea",
    "int8",
    "text",
    "int8",
    "text",
    "text",
    "bool",
    "text",
    "bool",
    "bytea",
    "text",
    "text",
    "int8",
]
# The batch is looked up in the table, never the table in the batch.
_PLANNING = "SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL enable_seqscan = off"
_INSERT = f"""
WITH added AS (
    INSERT INTO unified_state.step (project, author, number, session, uuid, block, kind, at, tool, tool_use_id,
        is_error, agent, starts_turn, body, unknown, masked_at)
    SELECT %(project)s, %(author)s, %(last)s + ordinal, session.number, uuid, block, kind, at, tool, tool_use_id,
        is_error, agent, starts_turn, body, unknown, masked_at
    FROM pg_temp.unified_state_incoming AS incoming
    JOIN unified_state.session ON session.project = %(project)s AND session.author = %(author)s
        AND session.session_id = incoming.session_id
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
_MARK_COPIES = """
INSERT INTO unified_state.step_copy (project, author, session, number, step)
SELECT %(project)s, %(author)s, session.number, %(last)s + ordinal, step.number
FROM pg_temp.unified_state_incoming AS incoming
JOIN unified_state.session ON session.project = %(project)s AND session.author = %(author)s
    AND session.session_id = incoming.session_id
JOIN unified_state.step ON step.project = %(project)s AND step.author = %(author)s
    AND step.uuid = incoming.uuid AND step.block = incoming.block
WHERE step.session <> session.number
ORDER BY ordinal
ON CONFLICT (project, session, step, author) DO NOTHING
"""


def append(connection: Connection[Any], asker: Asker, records: Iterable[HistoryRecord]) -> int:
    """Append records within the transaction that is open; the number that are new."""
    connection.execute(_INCOMING)
    batch = _copy(connection, records)
    forgetting = Forgetting(connection, asker)
    asker.lock(connection)
    connection.execute(_PLANNING)
    added = forgetting.note(batch.tombstones)
    forgetting.read(batch)
    keep_sessions(connection, asker, batch, forgetting)
    steps = 0
    if batch.steps:
        last = asker.take(connection, len(batch.steps))
        values = {"project": asker.project, "author": asker.author, "last": last}
        (steps,) = connection.execute(_INSERT, values).fetchone() or (0,)
        if steps < len(batch.steps):
            place_guessed(connection, asker)
            added += connection.execute(_MARK_COPIES, values).rowcount
        added += steps
        put_in_place(connection, asker, batch.masked)
    for keep in (keep_items, keep_links, keep_compactions):
        added += keep(connection, asker, batch, forgetting)
    forgetting.apply(batch.tombstones)
    connection.execute(
        "SELECT unified_state.note_volume(%s, %s, %s)", [asker.project, asker.author, steps - forgetting.taken]
    )
    return added


def _copy(connection: Connection[Any], records: Iterable[HistoryRecord]) -> Batch:
    batch = Batch()
    others: dict[type, list[Any]] = {
        StoredSession: batch.sessions,
        StoredItem: batch.items,
        StoredLink: batch.links,
        StoredCompaction: batch.compactions,
        Tombstone: batch.tombstones,
    }
    with connection.cursor().copy("COPY pg_temp.unified_state_incoming FROM STDIN (FORMAT binary)") as copy:
        copy.set_types(_TYPES)
        for record in records:
            if isinstance(record, StoredStep):
                batch.steps.append((record.session_id, f"{record.uuid}/{record.block}", record.at))
                if record.masked_at is not None:
                    batch.masked.append(record)
                copy.write_row(_row(len(batch.steps), record))
            else:
                others[type(record)].append(record)
    return batch


def _row(ordinal: int, step: StoredStep) -> tuple[object, ...]:
    return (
        ordinal,
        to_text(step.session_id),
        to_key(step.uuid),
        to_number(step.block),
        to_text(step.kind),
        to_number(step.at),
        to_text(step.tool),
        to_text(step.tool_use_id),
        step.is_error,
        to_text(step.agent),
        step.starts_turn,
        to_body(step.text),
        to_json(step.unknown),
        searched_text(step),
        None if step.masked_at is None else to_number(step.masked_at),
    )
