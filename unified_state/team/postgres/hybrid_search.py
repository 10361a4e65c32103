"""Hybrid search on the server: the sum of a score by words and a score by the query's vector.

Each score is scaled to 0 to 1 (min-max, which did better than ranks in our measurements). One statement selects, and
another one fetches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unified_state.model.history_records import HistoryHit, HistoryQuery
from unified_state.team.postgres.connections import Asker
from unified_state.team.postgres.postgres_values import STEP_SELECT, from_text, step_of, to_number, to_text, vector_text
from unified_state.team.postgres.schema.search_sql import best
from unified_state.team.postgres.step_words import searched_words

if TYPE_CHECKING:
    from psycopg import Connection

_CANDIDATES = 100  # with all words; if there are fewer, twice as many with the rarest
_MOST = 1_000
_TIMEOUT = "SET LOCAL statement_timeout = '20s'"
_SESSIONS = """
SELECT coalesce(array_agg(number), '{}') FROM unified_state.session
WHERE project = %s AND author = ANY(%s) AND session_id = %s
"""
_VALUES = (
    "words",
    "vector",
    "dimensions",
    "model",
    "sessions",
    "kind",
    "tool",
    "since",
    "until",
    "candidates",
    "limit",
)
_ASKED = {name: f"%({name})s" for name in _VALUES}
_STEPS = f"""
SELECT step.number, step.author, session_id, unified_state.name_of(step.author), {STEP_SELECT}
FROM unified_state.step
JOIN unified_state.session ON session.project = step.project AND session.author = step.author
    AND session.number = step.session
WHERE step.project = %s AND step.number = ANY(%s)
"""
# A distributed server searches on the project's node, as one call: see `distributed_sql`.
_SEARCH_THERE = """
SELECT * FROM unified_state.search_there(%(project)s::bigint, %(organisation)s::text, %(project_name)s::text,
    %(member)s::text, %(words)s::text[], %(vector)s::text, %(dimensions)s::integer, %(model)s::text, %(session)s::text,
    %(kind)s::text, %(tool)s::text, %(since)s::bigint, %(until)s::bigint, %(candidates)s::integer, %(limit)s::integer)
"""


def search(connection: Connection[Any], asker: Asker, readable: list[int], query: HistoryQuery) -> list[HistoryHit]:
    """Return the steps that match best, best first, at most 1,000.

    Steps that were forgotten since are left out, and so are words and vectors that a member attached to another
    member's step.
    """
    limit = min(query.limit, _MOST)
    words, vector = searched_words(query.text), query.vector if asker.has_vectors else None
    if limit < 1 or (not words and vector is None):
        return []
    connection.execute(_TIMEOUT)
    given = {
        **asker.names,
        "project": asker.project,
        "session": to_text(query.session_id),
        "words": [f"'{word}':*" if begins else f"'{word}'" for word, begins in words],
        "vector": None if vector is None else vector_text(vector),
        "dimensions": None if vector is None else len(vector),
        "model": to_text(query.model),
        "kind": to_text(query.kind),
        "tool": to_text(query.tool),
        "since": to_number(query.since),
        "until": to_number(query.until),
        "candidates": max(_CANDIDATES, limit),
        "limit": limit,
    }
    if asker.is_distributed:
        rows = connection.execute(_SEARCH_THERE, given).fetchall()
        return [
            hit for number, author, score, *told in rows for hit in _hits(asker, query, (number, author, score), told)
        ]
    given["sessions"] = None if query.session_id is None else _sessions(connection, asker, readable, query.session_id)
    chosen = best(words=bool(words), vector=vector is not None, values=_ASKED)
    candidates = connection.execute(chosen, given).fetchall()
    rows = connection.execute(_STEPS, [asker.project, [number for number, _, _ in candidates]]).fetchall()
    found = {(number, author): told for number, author, *told in rows}
    return [
        hit for place in candidates if (which := place[:2]) in found for hit in _hits(asker, query, place, found[which])
    ]


def _sessions(connection: Connection[Any], asker: Asker, readable: list[int], session_id: str) -> list[int]:
    """Return the numbers of a session, one for each author who has it."""
    row = connection.execute(_SESSIONS, [asker.project, readable, to_text(session_id)]).fetchone()
    return list(row[0]) if row else []


def _hits(asker: Asker, query: HistoryQuery, place: tuple[Any, ...], row: list[Any]) -> list[HistoryHit]:
    (number, author, score), (session, member, *told) = place, row
    session_id = from_text(session) if query.session_id is None else query.session_id
    return [
        HistoryHit(step=step, score=score, said_by=from_text(member), number=number)
        for step in asker.sound(author, step_of, session_id, told)
    ]
