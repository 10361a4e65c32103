"""What leaves the server while its step stays, or with it: words and vectors. And the steps that were masked later.

Words leave the samples of common words with their steps: these are counted anew.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from psycopg import Connection

    from unified_state.storage.tiers.postgres.tenancy import Asker

_ALL_WORDS = "!unified-state"  # matches every step: what goes must be seen first
_UNSAMPLED = """
UPDATE unified_state.volume SET sampled = -1000 WHERE project = %(project)s AND author = %(author)s AND sampled > 0
"""
_MASKED_LATER = """
SELECT DISTINCT ON (step.number) step.number, ordinal FROM pg_temp.unified_state_incoming AS incoming
JOIN unified_state.step ON step.project = %(project)s AND step.author = %(author)s
    AND step.uuid = incoming.uuid AND step.block = incoming.block
WHERE incoming.masked_at > step.masked_at OR (incoming.masked_at IS NOT NULL AND step.masked_at IS NULL)
ORDER BY step.number, incoming.masked_at DESC, ordinal
"""
_REPLACE = """
UPDATE unified_state.step SET body = incoming.body, unknown = incoming.unknown, masked_at = incoming.masked_at
FROM pg_temp.unified_state_incoming AS incoming
JOIN unnest(%(numbers)s::bigint[], %(ordinals)s::bigint[]) AS later (number, place) ON place = ordinal
WHERE step.project = %(project)s AND step.author = %(author)s AND step.number = later.number
"""
WORDS = """to_tsvector('unified_state.words', searched)
            || array_to_tsvector(ARRAY[unified_state.tenant(%(project)s), unified_state.era(%(project)s, number)])"""
_INDEX = f"""
INSERT INTO unified_state.step_words (project, author, number, words)
SELECT %(project)s, %(author)s, number, {WORDS}
FROM unnest(%(numbers)s::bigint[], %(ordinals)s::bigint[]) AS later (number, place)
JOIN pg_temp.unified_state_incoming ON place = ordinal WHERE searched <> ''
"""


def put_in_place(connection: Connection[Any], asker: Asker) -> None:
    """Let the steps of a batch that were masked later take the places of what is there."""
    given: dict[str, Any] = {"project": asker.project, "author": asker.author}
    rows = connection.execute(_MASKED_LATER, given).fetchall()
    if rows:
        numbers, ordinals = zip(*rows, strict=True)
        given |= {"numbers": [*numbers], "ordinals": [*ordinals]}
        connection.execute(_REPLACE, given)
        take_words(connection, asker, given["numbers"])
        connection.execute(_INDEX, given)


def take_words(connection: Connection[Any], asker: Asker, numbers: list[int]) -> None:
    """Take the words and the vectors of steps away."""
    given = {"project": asker.project, "author": asker.author, "numbers": numbers}
    connection.execute("SELECT set_config('unified_state.wanted', %s, true)", [_ALL_WORDS])
    for table in ("step_words", "step_vector") if asker.has_vectors else ("step_words",):
        connection.execute(
            f"DELETE FROM unified_state.{table} "
            "WHERE project = %(project)s AND author = %(author)s AND number = ANY(%(numbers)s)",
            given,
        )
    connection.execute(_UNSAMPLED, given)
