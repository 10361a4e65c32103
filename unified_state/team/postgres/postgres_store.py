"""The store of a project's history on a PostgreSQL server.

Members read their whole history, and the shared history of others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Self, TypeVar

from unified_state.model.history_records import (
    Counts,
    HistoryHit,
    HistoryQuery,
    HistoryRecord,
    StoredCompaction,
    StoredItem,
    StoredLink,
    StoredSession,
    StoredStep,
    Tombstone,
)
from unified_state.team.local_server import EMBEDDED, start_embedded
from unified_state.team.postgres import check_extra
from unified_state.team.postgres.append_steps import append
from unified_state.team.postgres.connections import OWN, Asker, Connections, failures
from unified_state.team.postgres.hybrid_search import search
from unified_state.team.postgres.migrate_server import migrate, server_identity
from unified_state.team.postgres.postgres_values import (
    STEP_SELECT,
    TABLES,
    columns_of,
    from_text,
    short_name,
    step_of,
    to_key,
    to_number,
    to_text,
    vector_text,
    with_short_names,
)
from unified_state.team.postgres.server_dsn import Server, find_server
from unified_state.team.postgres.step_words import OF_INCOMING
from unified_state.team.postgres.team_items import TeamItems

if TYPE_CHECKING:
    from psycopg import Connection

    Transaction = Callable[[], AbstractContextManager[tuple[Connection[Any], Any]]]

R = TypeVar("R", StoredSession, StoredItem, StoredCompaction)


_PAGE = 1000
_COUNTED = ("session", "step", "item", "compaction")
_HERE = "project = %(project)s AND author = ANY(%(readable)s)"
_SESSIONS = f"SELECT author, number FROM unified_state.session WHERE {_HERE} AND session_id = %(session)s"
# A row counts only for a session of its own author, so no member adds steps to another member's session.
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
SELECT place.number, {STEP_SELECT} FROM place
JOIN unified_state.step ON step.project = %(project)s AND step.number = place.step AND step.author = place.author
ORDER BY place.number
"""
# The asker's own steps of an entry, or else those of the first author who has them.
_STEPS_OF_ENTRY = f"""
SELECT DISTINCT ON (step.block) step.author, session_id, {STEP_SELECT}
FROM unified_state.step JOIN unified_state.session
    ON session.project = step.project AND session.author = step.author AND session.number = step.session
WHERE step.project = %(project)s AND step.author = ANY(%(readable)s) AND step.uuid = %(uuid)s
ORDER BY step.block, array_position(%(readable)s, step.author)
"""
_ITEM = f"""
SELECT author, record FROM unified_state.item WHERE {_HERE} AND uuid = ANY(%(uuids)s)
ORDER BY array_position(%(readable)s, author), number LIMIT 1
"""
_ITEMS_CALLED = """
SELECT item.author, record FROM unified_state.item_alias JOIN unified_state.item
    ON item.project = item_alias.project AND item.author = item_alias.author AND item.uuid = item_alias.uuid
WHERE item_alias.project = %(project)s AND item_alias.author = ANY(%(readable)s) AND item_alias.alias = ANY(%(names)s)
GROUP BY item.author, item.number, item.alias, record
ORDER BY item.alias = ANY(%(names)s) DESC, array_position(%(readable)s, item.author), item.number
"""


class PostgresStore:
    """A `HistoryStore` that threads may share.

    `own_only` leaves out the shared history of others. `vectors` stores the vectors of steps, `marks` the progress of
    archives, and `team` finds what members share beside steps.
    """

    def __init__(self, server: Server, asker: Asker, *, own_only: bool = False) -> None:
        self._server, self._asker = server, asker
        self._own_only = own_only
        self._connections = Connections(server.parameters)
        self.vectors = Vectors(self._transaction, asker)
        self.marks = Marks(self._transaction, asker)
        self.team = TeamItems(self._transaction, asker)
        try:
            with failures(server), self._connections.one() as connection:
                migrate(connection, server)
                self.identity = server_identity(connection)
                asker.enter(connection, server)
        except BaseException:
            self._connections.close()
            raise

    @contextmanager
    def _transaction(self) -> Iterator[tuple[Connection[Any], list[int]]]:
        """Open a transaction as the asker. Yield its connection, and the readable authors with the asker first."""
        with failures(self._server), self._connections.one() as connection, connection.transaction():
            readable = self._asker.ask(connection)
            own = self._asker.author
            yield connection, [own, *(author for author in readable if author != own and not self._own_only)]

    def _rows(self, sql: str, **values: Any) -> list[Any]:
        with self._transaction() as (connection, readable):
            return connection.execute(sql, self._asker.given(readable=readable, **values)).fetchall()

    def _records(self, kind: type[R]) -> Iterator[R]:
        """Yield the records of a kind in order, with one transaction for each page."""
        sql = f"""SELECT number, author, record FROM unified_state.{TABLES[kind]}
            WHERE {_HERE} AND number > %(after)s ORDER BY number LIMIT %(limit)s"""
        after = 0
        while page := self._rows(sql, after=after, limit=_PAGE):
            for _, author, record in page:
                yield from self._asker.records(kind, author, record)
            after = page[-1][0]

    def append(self, records: Iterable[HistoryRecord]) -> int:
        """Store records. See `HistoryStore`."""
        with self._transaction() as (connection, _):
            return append(connection, self._asker, map(with_short_names, records))

    def sessions(self) -> Iterator[StoredSession]:
        """Return all sessions."""
        return self._records(StoredSession)

    def steps(self, session_id: str, after: int = 0, limit: int = 1000) -> list[tuple[int, StoredStep]]:
        """Return a page of a session's steps, including steps of other sessions that it also contains."""
        session = short_name(session_id)
        with self._transaction() as (connection, readable):
            given = self._asker.given(readable=readable, session=to_text(session), after=after, limit=limit)
            rows = connection.execute(_SESSIONS, given).fetchall()
            given |= {"authors": [author for author, _ in rows], "sessions": [number for _, number in rows]}
            found = connection.execute(_STEPS_OF_SESSION, given).fetchall() if rows else []
        return [(row[0], step_of(session, row[1:])) for row in found]

    def find_steps(self, uuid: str) -> list[StoredStep]:
        """Return the steps of a transcript entry."""
        rows = self._rows(_STEPS_OF_ENTRY, uuid=to_key(short_name(uuid)))
        return [
            step
            for author, session, *told in rows
            for step in self._asker.sound(author, step_of, from_text(session), told)
        ]

    def items(self) -> Iterator[StoredItem]:
        """Return all items."""
        return self._records(StoredItem)

    def find_items(self, ref: str) -> list[StoredItem]:
        """Return the item with that UUID, or all items that have or had that alias."""
        name = short_name(ref)
        rows = self._rows(_ITEM, uuids=[to_text(name), to_text(name.lower())]) or self._rows(
            _ITEMS_CALLED, names=[to_text(name), to_text(name.upper())]
        )
        return [item for author, record in rows for item in self._asker.records(StoredItem, author, record)]

    def links(self) -> Iterator[StoredLink]:
        """Return all links between items."""
        return self._all(StoredLink, "number")

    def compactions(self) -> Iterator[StoredCompaction]:
        """Return all compactions."""
        return self._records(StoredCompaction)

    def tombstones(self) -> Iterator[Tombstone]:
        """Return all tombstones."""
        return self._all(Tombstone, "author, at, what, key")

    def _all(self, kind: type[Any], order: str) -> Iterator[Any]:
        columns = columns_of(kind)
        names = ", ".join(column.name for column in columns)
        rows = self._rows(f"SELECT {names} FROM unified_state.{TABLES[kind]} WHERE {_HERE} ORDER BY {order}")
        return (kind(*(column.decode(value) for column, value in zip(columns, row, strict=True))) for row in rows)

    def search(self, query: HistoryQuery) -> list[HistoryHit]:
        """Return the steps that match best."""
        if query.session_id is not None:
            query = query.replace(session_id=short_name(query.session_id))
        if self._asker.is_distributed:
            with failures(self._server), self._connections.one() as connection, connection.transaction():
                return search(connection, self._asker, [], query)
        with self._transaction() as (connection, readable):
            return search(connection, self._asker, readable, query)

    def counts(self) -> Counts:
        """Return the counts of records."""
        counts = "SELECT count(*) FROM unified_state.{} WHERE " + _HERE
        with self._transaction() as (connection, readable):
            given = self._asker.given(readable=readable)
            found = [connection.execute(counts.format(table), given).fetchall() for table in _COUNTED]
        return Counts(*(number for ((number,),) in found))

    def close(self) -> None:
        """Close the connections."""
        self._connections.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


_INCOMING = """
CREATE TEMPORARY TABLE IF NOT EXISTS unified_state_vectors (
    uuid bytea, block bigint, dimensions integer, embedding text
) ON COMMIT DELETE ROWS
"""
_INSERT = f"""
INSERT INTO unified_state.step_vector (project, author, number, model, dimensions, embedding)
SELECT step.project, step.author, step.number, %(model)s, dimensions, embedding::{{schema}}.halfvec
FROM pg_temp.unified_state_vectors AS incoming JOIN unified_state.step ON {OF_INCOMING}
ON CONFLICT (project, number, model, author) DO NOTHING
"""
_TAKE_OTHER_VERSIONS = f"""
DELETE FROM unified_state.step_vector AS other USING unified_state.step, pg_temp.unified_state_vectors AS incoming
WHERE {OF_INCOMING}
    AND other.project = %(project)s AND other.author = %(author)s AND other.number = step.number
    AND other.model <> %(model)s AND %(name)s <> '' AND starts_with(other.model, %(name)s)
    AND strpos(substr(other.model, length(%(name)s) + 1), ' ') = 0
"""
_SCHEMA = "SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'vector'"


class Vectors:
    """The vectors of a store. See `VectorStore`."""

    def __init__(self, transaction: Transaction, asker: Asker) -> None:
        self._transaction, self._asker = transaction, asker

    @property
    def can_be_kept(self) -> bool:
        """Return whether the server has the extension `vector`, and its owner has opened the store since."""
        return self._asker.has_vectors

    def add(self, model: str, vectors: Iterable[tuple[str, int, Sequence[float]]]) -> int:
        """Store vectors of the asker's own steps, and replace those of the model's other versions.

        Return how many are new, 0 if the server cannot store vectors.
        """
        if not self.can_be_kept:
            return 0
        with self._transaction() as (connection, _):
            (schema,) = connection.execute(_SCHEMA).fetchone() or ("public",)
            connection.execute(_INCOMING)
            with connection.cursor().copy("COPY pg_temp.unified_state_vectors FROM STDIN") as copy:
                for uuid, block, vector in vectors:
                    copy.write_row((to_key(short_name(uuid)), to_number(block), len(vector), vector_text(vector)))
            self._asker.lock(connection)  # forgetting a step deletes its vectors too
            name = "".join(model.rpartition(" ")[:2])
            given = self._asker.given(model=to_text(model), name=to_text(name))
            connection.execute(_TAKE_OTHER_VERSIONS, given)
            return connection.execute(_INSERT.format(schema=schema), given).rowcount


class Marks:
    """The marks of a member's archives of a project. See `MarkStore`."""

    def __init__(self, transaction: Transaction, asker: Asker) -> None:
        self._transaction, self._asker = transaction, asker

    def read(self, archive: str) -> int:
        """Return the mark of an archive."""
        with self._transaction() as (connection, _):
            row = connection.execute(
                f"SELECT mark FROM unified_state.replica WHERE {OWN} AND archive = %(archive)s",
                self._asker.given(archive=to_text(archive)),
            ).fetchone()
            return int(row[0]) if row else 0

    def keep(self, archive: str, mark: int) -> None:
        """Raise the mark of an archive."""
        with self._transaction() as (connection, _):
            connection.execute(
                "INSERT INTO unified_state.replica AS known (project, author, archive, mark) "
                "VALUES (%(project)s, %(author)s, %(archive)s, %(mark)s) ON CONFLICT (project, author, archive) "
                "DO UPDATE SET mark = greatest(known.mark, excluded.mark)",
                self._asker.given(archive=to_text(archive), mark=mark),
            )


def open_postgres(
    dsn: str,
    project: str,
    *,
    organisation: str,
    member: str,
    environ: Mapping[str, str] | None = None,
    trusts_environment: bool = False,
    own_only: bool = False,
    only_reads: bool = False,
) -> PostgresStore:
    """Return the store of a project on the server of a DSN. With `own_only` the history of other members is not read.
    Of several hosts one that `only_reads` prefers a standby.

    Raises MissingExtraError, SettingError, StorageError, NewerVersionError. Their texts contain no password.
    """
    check_extra()
    if dsn.startswith(EMBEDDED):
        dsn = start_embedded(dsn.removeprefix(EMBEDDED))
    server = find_server(dsn, environ or {}, trusts_environment=trusts_environment, only_reads=only_reads)
    return PostgresStore(server, Asker(organisation, project, member), own_only=own_only)
