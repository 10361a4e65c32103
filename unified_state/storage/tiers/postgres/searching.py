"""Hybrid search in one statement: what matches the words, what is near the query's vector, by the sum of both scores,
each brought between 0 and 1 (min-max, which won in our measurements against ranks).
"""

from __future__ import annotations

from unified_state.records.history import HistoryHit
from unified_state.storage.tiers.postgres.reading import STEP_COLUMNS, step_of
from unified_state.storage.tiers.postgres.values import from_text, to_number, to_text
from unified_state.storage.tiers.postgres.vectors import vector_text
from unified_state.storage.tiers.postgres.words import searched_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from psycopg import Connection

    from unified_state.records.history import HistoryQuery
    from unified_state.storage.tiers.postgres.tenancy import Asker

_CANDIDATES = 100  # that hold all words; and twice as many that hold the rarest
_MOST = 1_000
_TIMEOUT = "SET LOCAL statement_timeout = '20s'"
_MATCHED = """
    SELECT matching.step AS number, matching.score FROM asked, unified_state.matching(%(words)s::text[], sessions,
        %(kind)s, %(tool)s, %(since)s::bigint, %(until)s::bigint, %(candidates)s::integer)
"""
_NEAR = """
    SELECT nearest.step AS number, nearest.score FROM asked, unified_state.nearest(%(vector)s, %(dimensions)s,
        %(model)s, sessions, %(kind)s, %(tool)s, %(since)s::bigint, %(until)s::bigint, %(candidates)s::integer)
"""
_SCALED = """
    SELECT number, coalesce((score - min(score) OVER ()) / nullif(max(score) OVER () - min(score) OVER (), 0), 1)
        AS score FROM {}
"""
_SEARCH = """
WITH asked AS (
    SELECT CASE WHEN %(session)s::text IS NULL THEN NULL ELSE coalesce(array_agg(number), '{{}}') END AS sessions
    FROM unified_state.session
    WHERE project = %(project)s AND author = ANY(%(readable)s) AND session_id = %(session)s
), {parts}, best AS (
    SELECT number, sum(score) AS score FROM ({scaled}) AS scaled
    GROUP BY number ORDER BY score DESC, number DESC LIMIT %(limit)s
)
SELECT best.score, coalesce(%(session)s::text, session_id), unified_state.name_of(step.author), {columns}
FROM best
JOIN unified_state.step ON step.project = %(project)s AND step.number = best.number
JOIN unified_state.session ON session.project = step.project AND session.author = step.author
    AND session.number = step.session
ORDER BY best.score DESC, best.number DESC
"""


def search(connection: Connection[Any], asker: Asker, readable: list[int], query: HistoryQuery) -> list[HistoryHit]:
    """The steps that match best, best first, at most 1,000."""
    limit = min(query.limit, _MOST)
    words, vector = searched_words(query.text), query.vector if asker.has_vectors else None
    parts = {"matched": _MATCHED} if words else {}
    if vector is not None:
        parts["near"] = _NEAR
    if not parts or limit < 1:
        return []
    connection.execute(_TIMEOUT)
    given = {
        "project": asker.project,
        "readable": readable,
        "words": [f"'{word}':*" if begins else f"'{word}'" for word, begins in words],
        "vector": None if vector is None else vector_text(vector),
        "dimensions": None if vector is None else len(vector),
        "model": to_text(query.model),
        "session": to_text(query.session_id),
        "kind": to_text(query.kind),
        "tool": to_text(query.tool),
        "since": None if query.since is None else to_number(query.since),
        "until": None if query.until is None else to_number(query.until),
        "candidates": max(_CANDIDATES, limit),
        "limit": limit,
    }
    statement = _SEARCH.format(
        parts=", ".join(f"{name} AS ({part})" for name, part in parts.items()),
        scaled=" UNION ALL ".join(map(_SCALED.format, parts)),
        columns=STEP_COLUMNS,
    )
    rows = connection.execute(statement, given).fetchall()
    return [
        HistoryHit(step=step_of(from_text(session), row), score=score, said_by=from_text(member))
        for score, session, member, *row in rows
    ]
