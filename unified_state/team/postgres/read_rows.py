"""Reading from the server what the asker may read: all of his own, and of the others what they share."""

from __future__ import annotations

from unified_state.model.history_records import (
    Counts,
    StoredCompaction,
    StoredItem,
    StoredLink,
    StoredSession,
    StoredStep,
    Tombstone,
)
from unified_state.team.postgres.keep_records import decode
from unified_state.team.postgres.postgres_values import from_body, from_json, from_key, from_text, to_key, to_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from psycopg import Connection

STEP_COLUMNS = (
    "step.uuid, step.block, step.kind, step.at, step.tool, step.tool_use_id, step.is_error, step.agent, "
    "step.starts_turn, step.body, step.unknown, step.masked_at"
)
_HERE = "project = %s AND author = ANY(%s)"
_PAGE = 1000


class Reader:
    """Reads within a transaction; `readable` are the authors whose history the asker may read, himself first."""

    def __init__(self, connection: Connection[Any], project: int, readable: list[int]) -> None:
        self._connection = connection
        self._here = [project, readable]
        self._project, self._readable = project, readable

    def rows(self, sql: str, values: list[Any]) -> list[Any]:
        """All rows of a query."""
        return self._connection.execute(sql, values).fetchall()

    def session_page(self, after: int) -> list[tuple[int, StoredSession]]:
        """Sessions behind a number, in order."""
        return [(number, decode(StoredSession, record)) for number, record in self._page("session", after)]

    def item_page(self, after: int) -> list[tuple[int, StoredItem]]:
        """Items behind a number, in order."""
        return [(number, decode(StoredItem, record)) for number, record in self._page("item", after)]

    def compaction_page(self, after: int) -> list[tuple[int, StoredCompaction]]:
        """Compactions behind a number, in order."""
        return [
            (number, decode(StoredCompaction, from_body(record))) for number, record in self._page("compaction", after)
        ]

    def _page(self, table: str, after: int) -> list[Any]:
        return self.rows(
            f"SELECT number, record FROM unified_state.{table} WHERE {_HERE} AND number > %s ORDER BY number LIMIT %s",
            [*self._here, after, _PAGE],
        )

    def links(self) -> list[StoredLink]:
        """All links, in order."""
        rows = self.rows(
            f"SELECT from_uuid, to_uuid, relation, at FROM unified_state.link WHERE {_HERE} ORDER BY number", self._here
        )
        return [StoredLink(*map(from_text, row)) for row in rows]

    def tombstones(self) -> list[Tombstone]:
        """All tombstones."""
        rows = self.rows(
            f"SELECT what, key, at FROM unified_state.tombstone WHERE {_HERE} ORDER BY author, at, what, key",
            self._here,
        )
        return [Tombstone(what=from_text(what), key=from_text(key), at=at) for what, key, at in rows]

    def steps(self, session_id: str, after: int, limit: int) -> list[tuple[int, StoredStep]]:
        """A page of a session's steps: its own, and those of others that it holds too."""
        rows = self.rows(
            f"SELECT author, number FROM unified_state.session WHERE {_HERE} AND session_id = %s",
            [*self._here, to_text(session_id)],
        )
        if not rows:
            return []
        given = {
            "project": self._project,
            "authors": [author for author, _ in rows],
            "sessions": [number for _, number in rows],
            "after": after,
            "limit": limit,
        }
        found = self._connection.execute(_STEPS_OF_SESSION, given).fetchall()
        return [(row[0], step_of(session_id, row[1:])) for row in found]

    def find_steps(self, uuid: str) -> list[StoredStep]:
        """The steps of an entry: the asker's own, or else those of the first who has them."""
        rows = self.rows(
            f"SELECT step.author, session_id, {STEP_COLUMNS} FROM unified_state.step JOIN unified_state.session "
            "ON session.project = step.project AND session.author = step.author AND session.number = step.session "
            "WHERE step.project = %s AND step.author = ANY(%s) AND step.uuid = %s ORDER BY step.block",
            [*self._here, to_key(uuid)],
        )
        found: dict[int, tuple[int, StoredStep]] = {}
        for author, session, *row in rows:
            rank = self._readable.index(author)
            step = step_of(from_text(session) or "", row)
            if step.block not in found or rank < found[step.block][0]:
                found[step.block] = (rank, step)
        return [step for _, step in found.values()]

    def find_items(self, ref: str) -> list[StoredItem]:
        """An item by its UUID, or all that have or had an alias."""
        rows = self.rows(
            f"SELECT record FROM unified_state.item WHERE {_HERE} AND uuid = ANY(%s) "
            "ORDER BY array_position(%s, author), number LIMIT 1",
            [*self._here, [to_text(ref), to_text(ref.lower())], self._readable],
        )
        if rows:
            return [decode(StoredItem, rows[0][0])]
        names = [to_text(ref), to_text(ref.upper())]
        rows = self.rows(
            "SELECT record FROM unified_state.item_alias JOIN unified_state.item "
            "ON item.project = item_alias.project AND item.author = item_alias.author AND item.uuid = item_alias.uuid "
            "WHERE item_alias.project = %s AND item_alias.author = ANY(%s) AND item_alias.alias = ANY(%s) "
            "GROUP BY item.author, item.number, item.alias, record "
            "ORDER BY item.alias = ANY(%s) DESC, array_position(%s, item.author), item.number",
            [*self._here, names, names, self._readable],
        )
        return [decode(StoredItem, record) for (record,) in rows]

    def counts(self) -> Counts:
        """How much there is."""
        found = {
            table: self.rows(f"SELECT count(*) FROM unified_state.{table} WHERE {_HERE}", self._here)[0][0]
            for table in ("session", "step", "item", "compaction")
        }
        return Counts(found["session"], found["step"], found["item"], found["compaction"])


# A row counts for a session of its own author alone: nobody puts steps into another one's.
_OF_SESSIONS = """
    project = %(project)s AND session = ANY(%(sessions)s)
    AND (author, session) IN (SELECT * FROM unnest(%(authors)s::integer[], %(sessions)s::bigint[]))
    AND number > %(after)s ORDER BY number LIMIT %(limit)s
"""
_STEPS_OF_SESSION = f"""
WITH place AS (
    (SELECT author, number, number AS step FROM unified_state.step WHERE {_OF_SESSIONS})
    UNION ALL
    (SELECT author, number, step FROM unified_state.step_copy WHERE {_OF_SESSIONS})
    ORDER BY number LIMIT %(limit)s
)
SELECT place.number, {STEP_COLUMNS} FROM place
JOIN unified_state.step ON step.project = %(project)s AND step.number = place.step AND step.author = place.author
ORDER BY place.number
"""


def step_of(session_id: str, row: Any) -> StoredStep:
    """The step of a row of `STEP_COLUMNS`."""
    uuid, block, kind, at, tool, tool_use_id, is_error, agent, starts_turn, body, unknown, masked_at = row
    return StoredStep(
        session_id=session_id,
        uuid=from_key(uuid),
        block=block,
        kind=from_text(kind),
        at=at,
        text=from_body(body),
        tool=from_text(tool),
        tool_use_id=from_text(tool_use_id),
        is_error=is_error,
        agent=from_text(agent),
        starts_turn=starts_turn,
        unknown=from_json(unknown),
        masked_at=masked_at,
    )


def pages(read: Any) -> Iterator[Any]:
    """All records of a reading that goes by pages."""
    after = 0
    while page := read(after):
        yield from (record for _, record in page)
        after = page[-1][0]
