"""Hybrid search on the server: the sum of a score by words and a score by the query's vector.

Each score is scaled to 0 to 1 (min-max, which did better than ranks in our measurements). One statement selects, and
another one fetches. A distributed server sends a statement that reads tables to one node, and functions there cannot
search other nodes.
"""

from __future__ import annotations

from unified_state.model.history_records import HistoryHit
from unified_state.team.postgres.postgres_values import STEP_SELECT, from_text, step_of, to_number, to_text, vector_text
from unified_state.team.postgres.step_words import searched_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from psycopg import Connection

    from unified_state.model.history_records import HistoryQuery
    from unified_state.team.postgres.connections import Asker

_CANDIDATES = 100  # with all words; if there are fewer, twice as many with the rarest
_MOST = 1_000
_TIMEOUT = "SET LOCAL statement_timeout = '20s'"
_SESSIONS = """
SELECT coalesce(array_agg(number), '{}') FROM unified_state.session
WHERE project = %s AND author = ANY(%s) AND session_id = %s
"""
_MATCHED = """
    SELECT step AS number, author, score FROM unified_state.matching(%(words)s::text[], %(sessions)s::bigint[],
        %(kind)s, %(tool)s, %(since)s::bigint, %(until)s::bigint, %(candidates)s::integer)
"""
_NEAR = """
    SELECT step AS number, author, score FROM unified_state.nearest(%(vector)s, %(dimensions)s, %(model)s,
        %(sessions)s::bigint[], %(kind)s, %(tool)s, %(since)s::bigint, %(until)s::bigint, %(candidates)s::integer)
"""
_SCALED = """
    SELECT number, author,
        coalesce((score - min(score) OVER ()) / nullif(max(score) OVER () - min(score) OVER (), 0), 1) AS score
    FROM ({}) AS found
"""
_BEST = """
SELECT number, author, sum(score) AS score FROM ({}) AS scaled
GROUP BY number, author ORDER BY score DESC, number DESC LIMIT %(limit)s
"""
_STEPS = f"""
SELECT step.number, step.author, session_id, unified_state.name_of(step.author), {STEP_SELECT}
FROM unified_state.step
JOIN unified_state.session ON session.project = step.project AND session.author = step.author
    AND session.number = step.session
WHERE step.project = %s AND step.number = ANY(%s)
"""


def search(connection: Connection[Any], asker: Asker, readable: list[int], query: HistoryQuery) -> list[HistoryHit]:
    """Return the steps that match best, best first, at most 1,000.

    Steps that were forgotten since are left out, and so are words and vectors that a member attached to another
    member's step.
    """
    limit = min(query.limit, _MOST)
    words, vector = searched_words(query.text), query.vector if asker.has_vectors else None
    parts = ([_MATCHED] if words else []) + ([] if vector is None else [_NEAR])
    if not parts or limit < 1:
        return []
    connection.execute(_TIMEOUT)
    given = {
        "words": [f"'{word}':*" if begins else f"'{word}'" for word, begins in words],
        "vector": None if vector is None else vector_text(vector),
        "dimensions": None if vector is None else len(vector),
        "model": to_text(query.model),
        "sessions": None if query.session_id is None else _sessions(connection, asker, readable, query.session_id),
        "kind": to_text(query.kind),
        "tool": to_text(query.tool),
        "since": to_number(query.since),
        "until": to_number(query.until),
        "candidates": max(_CANDIDATES, limit),
        "limit": limit,
    }
    best = connection.execute(_BEST.format(" UNION ALL ".join(map(_SCALED.format, parts))), given).fetchall()
    rows = connection.execute(_STEPS, [asker.project, [number for number, _, _ in best]]).fetchall()
    found = {(number, author): told for number, author, *told in rows}
    return [_hit(query, score, *found[which]) for *place, score in best if (which := tuple(place)) in found]


def _sessions(connection: Connection[Any], asker: Asker, readable: list[int], session_id: str) -> list[int]:
    """Return the numbers of a session, one for each author who has it."""
    row = connection.execute(_SESSIONS, [asker.project, readable, to_text(session_id)]).fetchone()
    return list(row[0]) if row else []


def _hit(query: HistoryQuery, score: float, session: str, member: str, *row: Any) -> HistoryHit:
    session_id = from_text(session) if query.session_id is None else query.session_id
    return HistoryHit(step=step_of(session_id, row), score=score, said_by=from_text(member))
