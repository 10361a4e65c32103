"""What leaves the server while its step stays, or with it: words and vectors. And the steps that were masked later.

Words leave the samples of common words with their steps: these are counted anew.
"""

from __future__ import annotations

from unified_state.storage.tiers.postgres.values import to_body, to_json, to_key, to_number
from unified_state.storage.tiers.postgres.words import searched_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from psycopg import Connection

    from unified_state.records.history import StoredStep
    from unified_state.storage.tiers.postgres.tenancy import Asker

_ALL_WORDS = "!unified-state"  # matches every step: what goes must be seen first
_UNSAMPLED = """
UPDATE unified_state.volume SET sampled = -1000 WHERE project = %(project)s AND author = %(author)s AND sampled > 0
"""
_MASKED_BEFORE = """
SELECT number FROM unified_state.step WHERE project = %(project)s AND author = %(author)s AND uuid = %(uuid)s
    AND block = %(block)s AND (masked_at IS NULL OR masked_at < %(masked_at)s)
"""
_REPLACE = """
UPDATE unified_state.step SET body = %(body)s, unknown = %(unknown)s, masked_at = %(masked_at)s
WHERE project = %(project)s AND author = %(author)s AND number = %(number)s
"""
WORDS = """to_tsvector('unified_state.words', {searched})
            || array_to_tsvector(ARRAY[unified_state.tenant(%(project)s), unified_state.era(%(project)s, {number})])"""
_INDEX = f"""
INSERT INTO unified_state.step_words (project, author, number, words)
VALUES (%(project)s, %(author)s, %(number)s, {WORDS.format(searched="%(searched)s::text", number="%(number)s")})
"""


def put_in_place(connection: Connection[Any], asker: Asker, masked: list[StoredStep]) -> None:
    """Let steps that were masked take the places of the versions that were masked before, or never."""
    for step in masked:
        given = {
            "project": asker.project,
            "author": asker.author,
            "uuid": to_key(step.uuid),
            "block": to_number(step.block),
            "masked_at": to_number(step.masked_at or 0),
            "body": to_body(step.text),
            "unknown": to_json(step.unknown),
            "searched": searched_text(step),
        }
        for (number,) in connection.execute(_MASKED_BEFORE, given).fetchall():
            given["number"] = number
            connection.execute(_REPLACE, given)
            take_words(connection, asker, [number])
            if given["searched"]:
                connection.execute(_INDEX, given)


def take_words(connection: Connection[Any], asker: Asker, numbers: list[int]) -> None:
    """Take the words and the vectors of steps away."""
    given = {"project": asker.project, "author": asker.author, "numbers": numbers}
    connection.execute("SELECT unified_state.tell('unified_state.wanted', %s)", [_ALL_WORDS])
    for table in ("step_words", "step_vector") if asker.has_vectors else ("step_words",):
        connection.execute(
            f"DELETE FROM unified_state.{table} "
            "WHERE project = %(project)s AND author = %(author)s AND number = ANY(%(numbers)s)",
            given,
        )
    connection.execute(_UNSAMPLED, given)
