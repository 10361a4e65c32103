"""Search on the server."""

from __future__ import annotations

from unified_state.records.history import HistoryHit
from unified_state.storage.tiers.postgres.reading import STEP_COLUMNS, step_of
from unified_state.storage.tiers.postgres.values import from_text
from unified_state.storage.tiers.postgres.words import searched_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from psycopg import Connection

    from unified_state.records.history import HistoryQuery
    from unified_state.storage.tiers.postgres.tenancy import Asker


def search(connection: Connection[Any], asker: Asker, readable: list[int], query: HistoryQuery) -> list[HistoryHit]:
    """The steps that match best."""
    words = searched_words(query.text)
    if not words or query.limit < 1:
        return []
    wanted = " | ".join(f"'{word}'" + (":*" if begins else "") for word, begins in words)
    connection.execute(
        "SELECT set_config('unified_state.wanted', %s || (SELECT ' & (' || to_tsquery('unified_state.words', %s)::text || ')'), true)",
        [f"'{asker.tenant}'", wanted],
    )
    rows = connection.execute(
        f"SELECT ts_rank(words, to_tsquery('unified_state.words', %s)) AS score, session_id, {STEP_COLUMNS} "
        "FROM unified_state.step_words JOIN unified_state.step USING (project, number) "
        "JOIN unified_state.session ON session.project = step.project AND session.number = step.session "
        "WHERE step.project = %s AND step.author = ANY(%s) ORDER BY score DESC LIMIT %s",
        [wanted, asker.project, readable, query.limit],
    ).fetchall()
    return [HistoryHit(step=step_of(from_text(session) or "", row), score=score) for score, session, *row in rows]
