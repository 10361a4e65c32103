"""The items of colleagues on the server: their words, a search for them, and the records behind refs.

Decisions, constraints, questions and failed attempts are found. Row security leaves out what is not shared.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from unified_state.model.history_records import ItemHit, StepHit, StoredItem
from unified_state.model.item import ATTEMPT, CONSTRAINT, DECISION, QUESTION
from unified_state.team.postgres.connections import OWN, Asker
from unified_state.team.postgres.postgres_values import STEP_SELECT, from_record, from_text, step_of, to_key
from unified_state.team.postgres.step_words import searched_words, words_of

if TYPE_CHECKING:
    from psycopg import Connection

    Transaction = Callable[[], AbstractContextManager[tuple[Connection[Any], list[int]]]]

FOUND_KINDS = (DECISION, CONSTRAINT, QUESTION, ATTEMPT)
_AT_ONCE = 500  # items whose words are filled in
_MOST_READ = 1000  # records, until a search has enough that are sound
# The score is the share of the words that the item has. An author's items are few, so no index is needed.
_SEARCH = """
SELECT number, author, record, (
    SELECT count(*) FROM unnest(%(words)s::text[]) AS word WHERE words @@ to_tsquery('unified_state.words', word)
)::double precision / cardinality(%(words)s::text[]) AS score
FROM unified_state.item
WHERE project = %(project)s AND author = ANY(%(others)s) AND words @@ to_tsquery('unified_state.words', %(any)s)
ORDER BY score DESC, number DESC LIMIT %(limit)s OFFSET %(offset)s
"""
_ITEM = """
SELECT number, author, record, 1::double precision FROM unified_state.item
WHERE project = %(project)s AND author = ANY(%(readable)s) AND number = %(number)s
"""
_STEP = f"""
SELECT step.author, session_id, {STEP_SELECT} FROM unified_state.step JOIN unified_state.session
    ON session.project = step.project AND session.author = step.author AND session.number = step.session
WHERE step.project = %(project)s AND step.author = ANY(%(readable)s) AND step.number = %(number)s
"""
_SOURCE = f"""
SELECT step.number, step.author, session_id, {STEP_SELECT} FROM unified_state.step JOIN unified_state.session
    ON session.project = step.project AND session.author = step.author AND session.number = step.session
WHERE step.project = %(project)s AND step.author = %(of)s AND step.uuid = %(uuid)s ORDER BY step.block
"""
_NAMES = "SELECT id, unified_state.name_of(id) FROM unnest(%s::integer[]) AS id"
_WITHOUT_WORDS = f"SELECT uuid, record FROM unified_state.item WHERE {OWN} AND words IS NULL LIMIT {_AT_ONCE}"
_FILL_IN = f"""
UPDATE unified_state.item SET words = to_tsvector('unified_state.words', %(words)s::text)
WHERE {OWN} AND uuid = %(uuid)s
"""
_PRIVATE = f"SELECT count(*) FROM unified_state.item WHERE {OWN} AND NOT shared AND words <> ''"


def item_words(item: StoredItem) -> str:
    """Return the words of an item for the index, or "" for one of a kind that is not found."""
    if item.kind not in FOUND_KINDS:
        return ""
    return words_of(" ".join(value for value in item.body.values() if isinstance(value, str)))


class TeamItems:
    """What members find of each other beside steps. See `SharesItems`."""

    def __init__(self, transaction: Transaction, asker: Asker) -> None:
        self._transaction, self._asker = transaction, asker

    def set_since(self, time: str) -> None:
        """Store items from before a time as not shared."""
        self._asker.items_since = time

    @property
    def skipped(self) -> int:
        """Return the number of colleagues' records that were damaged and so left out, since the store was opened."""
        return self._asker.skipped

    def search(self, text: str, limit: int) -> list[ItemHit]:
        """Return the items of other members that hold words of a text, those with the most words first."""
        words = [f"'{word}':*" if begins else f"'{word}'" for word, begins in searched_words(text)]
        with self._transaction() as (connection, readable):
            others = [author for author in readable if author != self._asker.author]
            if not words or not others or limit < 1:
                return []
            given = self._asker.given(others=others, words=words, any=" | ".join(words), limit=limit)
            hits: list[ItemHit] = []
            for offset in range(0, _MOST_READ, limit):  # damaged records take no places
                rows = connection.execute(_SEARCH, given | {"offset": offset}).fetchall()
                hits += self._hits(connection, rows)
                if len(hits) >= limit or len(rows) < limit:
                    break
            return hits[:limit]

    def find_item(self, number: int) -> ItemHit | None:
        """Return the readable item with a number of the project."""
        with self._transaction() as (connection, readable):
            given = self._asker.given(readable=readable, number=number)
            return next(iter(self._hits(connection, connection.execute(_ITEM, given).fetchall())), None)

    def find_step(self, number: int) -> StepHit | None:
        """Return the readable step with a number of the project."""
        with self._transaction() as (connection, readable):
            row = connection.execute(_STEP, self._asker.given(readable=readable, number=number)).fetchone()
            return None if row is None else next(iter(self._step_hits(connection, [(number, *row)])), None)

    def find_source(self, hit: ItemHit) -> list[StepHit]:
        """Return the steps of the entry that an item of a member was taken from, as far as they are readable."""
        if hit.item.source_uuid is None:
            return []
        with self._transaction() as (connection, _):
            rows = connection.execute(
                _SOURCE, self._asker.given(of=hit.author, uuid=to_key(hit.item.source_uuid))
            ).fetchall()
            return self._step_hits(connection, rows)

    def fill_in_words(self) -> None:
        """Index the asker's items from before the server indexed any."""
        while True:
            with self._transaction() as (connection, _):
                rows = connection.execute(_WITHOUT_WORDS, self._asker.given()).fetchall()
                with connection.cursor() as cursor:
                    cursor.executemany(
                        _FILL_IN,
                        [
                            self._asker.given(uuid=uuid, words=item_words(from_record(StoredItem, record, is_own=True)))
                            for uuid, record in rows
                        ],
                    )
            if len(rows) < _AT_ONCE:
                return

    def count_private(self) -> int:
        """Return the number of the asker's items here that colleagues would find if he shared the earlier ones."""
        with self._transaction() as (connection, _):
            (sharing,) = connection.execute("SELECT unified_state.sharing()").fetchone() or ([],)
            (found,) = connection.execute(_PRIVATE, self._asker.given()).fetchone() or (0,)
            return 0 if sharing and sharing[2] else int(found)

    def _hits(self, connection: Connection[Any], rows: list[Any]) -> list[ItemHit]:
        names = _names(connection, rows)
        return [
            ItemHit(number=number, author=author, said_by=names[author], item=item, score=score)
            for number, author, record, score in rows
            for item in self._asker.records(StoredItem, author, record)
        ]

    def _step_hits(self, connection: Connection[Any], rows: list[Any]) -> list[StepHit]:
        names = _names(connection, rows)
        return [
            StepHit(number=number, said_by=names[author], step=step)
            for number, author, session, *told in rows
            for step in self._asker.sound(author, step_of, from_text(session), told)
        ]


def _names(connection: Connection[Any], rows: list[Any]) -> dict[int, str | None]:
    """Return the names of the authors of rows, whose second value is the author."""
    found = connection.execute(_NAMES, [list({row[1] for row in rows})]).fetchall() if rows else []
    return {author: from_text(name) for author, name in found}
