"""The words of steps in the server's full-text index: which ones, how they are removed, and replaced.

The server's parser would take `src/app.py` for one file and `app.py` for a host. So it gets plain words, in lower case
and without accents, split as the local index splits them: `load_settings` is `load` and `settings`, a run of Chinese,
Japanese or Korean is its overlapping pairs. One more word names the project, so that the index itself keeps tenants
apart.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache
from unicodedata import combining, normalize

from unified_state.lib.query import is_single_cjk, query_words
from unified_state.lib.stdlib import parse_json
from unified_state.lib.text import index_text, strings_of
from unified_state.model.history_records import is_masked_later
from unified_state.model.step import TOOL_CALL
from unified_state.team.postgres.postgres_values import to_body, to_json, to_key, to_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from psycopg import Connection

    from unified_state.model.history_records import StoredStep
    from unified_state.team.postgres.connections import Asker


_DATA_URL = "data:"
_SIGNS = re.compile(r"[\W_]+")
_ACCENTED = ((0xC0, 0x250), (0x300, 0x370), (0x370, 0x530), (0x1E00, 0x2000))
_LONGEST_WORD = 500  # characters; the server takes 2,046 bytes
_LONGEST_TEXT = 250_000  # characters of a step that can be found: the server takes a megabyte of words


def searched_text(step: StoredStep) -> str:
    """The words of a step, for the index; nothing of an image."""
    if step.text.startswith(_DATA_URL):
        return ""
    text = step.text
    if step.kind == TOOL_CALL:
        with suppress(ValueError, RecursionError):  # half of a JSON is searched as it is
            text = strings_of(parse_json(text))
        text = f"{step.tool or ''}\n{text}"
    words = " ".join(_words(text[:_LONGEST_TEXT]))
    return words[:_LONGEST_TEXT]


def searched_words(query: str) -> list[tuple[str, bool]]:
    """The words that a query looks for, and whether each is only the beginning of one."""
    found = {word: is_single_cjk(word) for asked in query_words(query) for word in _words(asked)}
    return list(found.items())


def _words(text: str) -> list[str]:
    text = index_text(text)
    if not text.isascii():
        text = text.translate(_bare())
    return [word[:_LONGEST_WORD] for word in _SIGNS.split(text.lower()) if word]


@cache
def _bare() -> dict[int, str]:
    """Letters without their accents."""
    return {
        code: "".join(sign for sign in normalize("NFD", chr(code)) if not combining(sign))
        for first, last in _ACCENTED
        for code in range(first, last)
    }


_ALL_WORDS = "!unified-state"  # matches every step: what goes must be seen first
_UNSAMPLED = """
UPDATE unified_state.volume SET sampled = -1000 WHERE project = %(project)s AND author = %(author)s AND sampled > 0
"""
_KNOWN = """
SELECT number, uuid, block, masked_at FROM unified_state.step WHERE project = %s AND author = %s AND uuid = ANY(%s)
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
# Steps whose session the server only guessed: see `schema_numbers`.
_PLACE = """
UPDATE unified_state.step SET session = session.number, session_guessed = false
FROM pg_temp.unified_state_incoming AS incoming, unified_state.session
WHERE step.project = %(project)s AND step.author = %(author)s AND step.session_guessed
    AND step.uuid = incoming.uuid AND step.block = incoming.block
    AND session.project = %(project)s AND session.author = %(author)s AND session.session_id = incoming.session_id
RETURNING step.number
"""
_INDEX_PLACED = f"""
INSERT INTO unified_state.step_words (project, author, number, words)
SELECT DISTINCT ON (step.number) %(project)s, %(author)s, step.number,
    {WORDS.format(searched="searched", number="step.number")}
FROM pg_temp.unified_state_incoming AS incoming
JOIN unified_state.step ON step.project = %(project)s AND step.author = %(author)s
    AND step.uuid = incoming.uuid AND step.block = incoming.block
WHERE step.number = ANY(%(numbers)s) AND searched <> ''
"""


def place_guessed(connection: Connection[Any], asker: Asker) -> None:
    """Put the incoming steps that the server knows, and has put into a session by a guess, into their own."""
    given: dict[str, Any] = {"project": asker.project, "author": asker.author}
    numbers = [number for (number,) in connection.execute(_PLACE, given).fetchall()]
    if numbers:
        take_words(connection, asker, numbers)
        connection.execute(_INDEX_PLACED, {**given, "numbers": numbers})


def put_in_place(connection: Connection[Any], asker: Asker, masked: list[StoredStep]) -> None:
    """Let steps that were masked take the places of the versions that were masked before, or never."""
    newest: dict[tuple[bytes, int], StoredStep] = {}
    for step in sorted(masked, key=lambda step: step.masked_at or 0):
        newest[to_key(step.uuid), to_number(step.block)] = step
    rows = connection.execute(_KNOWN, [asker.project, asker.author, list({uuid for uuid, _ in newest})]).fetchall()
    changed = [
        _values(asker, number, newest[uuid, block])
        for number, uuid, block, masked_at in rows
        if (uuid, block) in newest and is_masked_later(newest[uuid, block], masked_at)
    ]
    if not changed:
        return
    with connection.cursor() as cursor:
        cursor.executemany(_REPLACE, changed)
        take_words(connection, asker, [values["number"] for values in changed])
        cursor.executemany(_INDEX, [values for values in changed if values["searched"]])


def _values(asker: Asker, number: int, step: StoredStep) -> dict[str, Any]:
    return {
        "project": asker.project,
        "author": asker.author,
        "number": number,
        "masked_at": to_number(step.masked_at or 0),
        "body": to_body(step.text),
        "unknown": to_json(step.unknown),
        "searched": searched_text(step),
    }


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
