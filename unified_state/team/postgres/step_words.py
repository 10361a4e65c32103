"""The words of steps in the server's full-text index: selection, removal and replacement.

The server's parser would read `src/app.py` as one file and `app.py` as a host. So it receives plain words in lower case
and without accents, split as in the local index: `load_settings` becomes `load` and `settings`, and a run of Chinese,
Japanese or Korean its overlapping pairs. One more word names the project, so that the index itself separates tenants.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any
from unicodedata import combining, normalize

from unified_state.lib.query import is_single_cjk, query_words
from unified_state.lib.text import index_text
from unified_state.memory.archive.steps import DATA_URL, readable
from unified_state.model.history_records import StoredStep, is_masked_later
from unified_state.team.postgres.connections import OWN, Asker
from unified_state.team.postgres.postgres_values import to_body, to_extra, to_key, to_number

if TYPE_CHECKING:
    from psycopg import Connection


_SIGNS = re.compile(r"[\W_]+")
_ACCENTED = ((0xC0, 0x250), (0x300, 0x370), (0x370, 0x530), (0x1E00, 0x2000))
_LONGEST_WORD = 500  # characters; the server takes 2,046 bytes
_LONGEST_TEXT = 250_000  # searchable characters of a step; the server accepts a megabyte of words


def searched_text(step: StoredStep) -> str:
    """Return the words of a step for the index, or "" for an image."""
    return "" if step.text.startswith(DATA_URL) else words_of(readable(step))


def words_of(text: str) -> str:
    """Return the words of a text for the index."""
    return " ".join(_words(text[:_LONGEST_TEXT]))[:_LONGEST_TEXT]


def searched_words(query: str) -> list[tuple[str, bool]]:
    """Return the words to search for, each with a flag for a prefix match."""
    found = {word: is_single_cjk(word) for asked in query_words(query) for word in _words(asked)}
    return list(found.items())


def _words(text: str) -> list[str]:
    text = index_text(text)
    if not text.isascii():
        text = text.translate(_bare())
    return [word[:_LONGEST_WORD] for word in _SIGNS.split(text.lower()) if word]


@cache
def _bare() -> dict[int, str]:
    """Return a table from letters to letters without accents."""
    return {
        code: "".join(sign for sign in normalize("NFD", chr(code)) if not combining(sign))
        for first, last in _ACCENTED
        for code in range(first, last)
    }


_ALL_WORDS = "!unified-state"  # matches every step: a row must be visible to be deleted
# Matches an incoming step with the asker's steps and its session.
OF_INCOMING = """step.project = %(project)s AND step.author = %(author)s
    AND step.uuid = incoming.uuid AND step.block = incoming.block"""
SESSION_OF_INCOMING = """unified_state.session ON session.project = %(project)s AND session.author = %(author)s
    AND session.session_id = incoming.session_id"""
# The words of deleted steps leave the samples of common words, which are counted again.
_UNSAMPLED = f"UPDATE unified_state.volume SET sampled = -1000 WHERE {OWN} AND sampled > 0"
_REPLACE = f"""
UPDATE unified_state.step SET body = %(body)s, unknown = %(unknown)s, masked_at = %(masked_at)s
WHERE {OWN} AND number = %(number)s
"""
WORDS = """unified_state.lean(to_tsvector('unified_state.words', {searched}))
            || array_to_tsvector(ARRAY[unified_state.tenant(%(project)s), unified_state.era(%(project)s, {number})])"""
_INDEX = f"""
INSERT INTO unified_state.step_words (project, author, number, words)
VALUES (%(project)s, %(author)s, %(number)s, {WORDS.format(searched="%(searched)s::text", number="%(number)s")})
"""
# The migration to version 5 only guessed the sessions of some steps: see `numbers_sql`.
_PLACE = f"""
UPDATE unified_state.step SET session = session.number, session_guessed = false
FROM pg_temp.unified_state_incoming AS incoming JOIN {SESSION_OF_INCOMING}
WHERE step.session_guessed AND {OF_INCOMING}
RETURNING step.number
"""
_INDEX_PLACED = f"""
INSERT INTO unified_state.step_words (project, author, number, words)
SELECT DISTINCT ON (step.number) %(project)s, %(author)s, step.number,
    {WORDS.format(searched="searched", number="step.number")}
FROM pg_temp.unified_state_incoming AS incoming JOIN unified_state.step ON {OF_INCOMING}
WHERE step.number = ANY(%(numbers)s) AND searched <> ''
"""


def place_guessed(connection: Connection[Any], asker: Asker) -> None:
    """Move incoming steps whose sessions the server only guessed into their own sessions."""
    numbers = [number for (number,) in connection.execute(_PLACE, asker.given()).fetchall()]
    if numbers:
        take_words(connection, asker, numbers)
        connection.execute(_INDEX_PLACED, asker.given(numbers=numbers))


def put_in_place(connection: Connection[Any], asker: Asker, masked: list[StoredStep]) -> None:
    """Replace less masked versions by the masked steps."""
    newest = {
        (to_key(step.uuid), to_number(step.block)): step
        for step in sorted(masked, key=lambda step: step.masked_at or 0)
    }
    rows = connection.execute(
        f"SELECT number, uuid, block, masked_at FROM unified_state.step WHERE {OWN} AND uuid = ANY(%(uuids)s)",
        asker.given(uuids=list({uuid for uuid, _ in newest})),
    ).fetchall()
    changed = [
        asker.given(
            number=number,
            masked_at=to_number(step.masked_at),
            body=to_body(step.text),
            unknown=to_extra(step),
            searched=searched_text(step),
        )
        for number, uuid, block, masked_at in rows
        if (step := newest.get((uuid, block))) is not None and is_masked_later(step, masked_at)
    ]
    if not changed:
        return
    with connection.cursor() as cursor:
        cursor.executemany(_REPLACE, changed)
        take_words(connection, asker, [values["number"] for values in changed])
        cursor.executemany(_INDEX, [values for values in changed if values["searched"]])


def take_words(connection: Connection[Any], asker: Asker, numbers: list[int]) -> None:
    """Delete the words and the vectors of steps."""
    connection.execute("SELECT unified_state.tell('unified_state.wanted', %s)", [_ALL_WORDS])
    for table in ("step_words", "step_vector") if asker.has_vectors else ("step_words",):
        connection.execute(
            f"DELETE FROM unified_state.{table} WHERE {OWN} AND number = ANY(%(numbers)s)", asker.given(numbers=numbers)
        )
    connection.execute(_UNSAMPLED, asker.given())
