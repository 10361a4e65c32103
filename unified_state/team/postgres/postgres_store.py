"""The store of a project's history on a PostgreSQL server."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TypeVar

from unified_state.errors import MissingExtraError
from unified_state.team.postgres.append_steps import append
from unified_state.team.postgres.connections import Connections, failures
from unified_state.team.postgres.hybrid_search import search
from unified_state.team.postgres.migrate_server import migrate
from unified_state.team.postgres.postgres_values import (
    short_name,
    to_key,
    to_number,
    to_text,
    vector_text,
    with_short_names,
)
from unified_state.team.postgres.read_rows import Reader, pages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from types import TracebackType
    from typing import Any, Self

    from psycopg import Connection

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
    from unified_state.team.postgres.connections import Asker
    from unified_state.team.postgres.server_dsn import Server

    Transaction = Callable[[], AbstractContextManager[tuple[Connection[Any], Any]]]


T = TypeVar("T")


class PostgresStore:
    """A `HistoryStore`; threads may share it. What it reads is the asker's own, and what others share with him, unless
    that is of no interest. `vectors` takes the vectors of steps, `marks` how far archives are.
    """

    def __init__(self, server: Server, asker: Asker, *, own_only: bool = False) -> None:
        self._server, self._asker = server, asker
        self._own_only = own_only
        self._connections = Connections(server.parameters)
        self.vectors = Vectors(self._transaction, asker)
        self.marks = Marks(self._transaction, asker)
        try:
            with failures(server), self._connections.one() as connection:
                migrate(connection, server)
                asker.enter(connection, server)
        except BaseException:
            self._connections.close()
            raise

    @contextmanager
    def _transaction(self) -> Iterator[tuple[Connection[Any], list[int]]]:
        with failures(self._server), self._connections.one() as connection, connection.transaction():
            readable = self._asker.ask(connection)
            own = self._asker.author
            yield connection, [own, *(author for author in readable if author != own and not self._own_only)]

    def _read(self, read: Callable[[Reader], T]) -> T:
        with self._transaction() as (connection, readable):
            return read(Reader(connection, self._asker.project, readable))

    def append(self, records: Iterable[HistoryRecord]) -> int:
        """Keep records; see `HistoryStore`."""
        with self._transaction() as (connection, _):
            return append(connection, self._asker, map(with_short_names, records))

    def sessions(self) -> Iterator[StoredSession]:
        """All sessions."""
        return pages(lambda after: self._read(lambda reader: reader.session_page(after)))

    def steps(self, session_id: str, after: int = 0, limit: int = 1000) -> list[tuple[int, StoredStep]]:
        """A page of the steps of a session."""
        return self._read(lambda reader: reader.steps(short_name(session_id), after, limit))

    def find_steps(self, uuid: str) -> list[StoredStep]:
        """The steps of a transcript entry."""
        return self._read(lambda reader: reader.find_steps(short_name(uuid)))

    def items(self) -> Iterator[StoredItem]:
        """All items."""
        return pages(lambda after: self._read(lambda reader: reader.item_page(after)))

    def find_items(self, ref: str) -> list[StoredItem]:
        """The item with that UUID, or all that have or had that alias."""
        return self._read(lambda reader: reader.find_items(short_name(ref)))

    def links(self) -> Iterator[StoredLink]:
        """All links between items."""
        return iter(self._read(Reader.links))

    def compactions(self) -> Iterator[StoredCompaction]:
        """All compactions."""
        return pages(lambda after: self._read(lambda reader: reader.compaction_page(after)))

    def tombstones(self) -> Iterator[Tombstone]:
        """Everything that was forgotten."""
        return iter(self._read(Reader.tombstones))

    def search(self, query: HistoryQuery) -> list[HistoryHit]:
        """The steps that match best."""
        if query.session_id is not None:
            query = query.replace(session_id=short_name(query.session_id))
        with self._transaction() as (connection, readable):
            return search(connection, self._asker, readable, query)

    def counts(self) -> Counts:
        """How much there is."""
        return self._read(Reader.counts)

    def close(self) -> None:
        """Let go of the connections."""
        self._connections.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()


_INCOMING = """
CREATE TEMPORARY TABLE IF NOT EXISTS unified_state_vectors (
    uuid bytea, block bigint, dimensions integer, embedding text
) ON COMMIT DELETE ROWS
"""
_INSERT = """
INSERT INTO unified_state.step_vector (project, author, number, model, dimensions, embedding)
SELECT step.project, step.author, step.number, %(model)s, dimensions, embedding::{schema}.halfvec
FROM pg_temp.unified_state_vectors AS incoming
JOIN unified_state.step ON step.project = %(project)s AND step.author = %(author)s
    AND step.uuid = incoming.uuid AND step.block = incoming.block
ON CONFLICT (project, number, model, author) DO NOTHING
"""
_TAKE_OTHER_VERSIONS = """
DELETE FROM unified_state.step_vector AS other USING unified_state.step, pg_temp.unified_state_vectors AS incoming
WHERE step.project = %(project)s AND step.author = %(author)s
    AND step.uuid = incoming.uuid AND step.block = incoming.block
    AND other.project = %(project)s AND other.author = %(author)s AND other.number = step.number
    AND other.model <> %(model)s AND %(name)s <> '' AND starts_with(other.model, %(name)s)
    AND strpos(substr(other.model, length(%(name)s) + 1), ' ') = 0
"""
_SCHEMA = "SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'vector'"


class Vectors:
    """The vectors of a store."""

    def __init__(self, transaction: Transaction, asker: Asker) -> None:
        self._transaction, self._asker = transaction, asker

    @property
    def can_be_kept(self) -> bool:
        """Whether the server has the extension `vector`, and its owner opened it since."""
        return self._asker.has_vectors

    def add(self, model: str, vectors: Iterable[tuple[str, int, Sequence[float]]]) -> int:
        """Keep vectors of the asker's own steps, each named by uuid and block, of a model, and no others of its other
        versions; how many are new. None is kept where none can be.
        """
        if not self.can_be_kept:
            return 0
        with self._transaction() as (connection, _):
            (schema,) = connection.execute(_SCHEMA).fetchone() or ("public",)
            connection.execute(_INCOMING)
            with connection.cursor().copy("COPY pg_temp.unified_state_vectors FROM STDIN") as copy:
                for uuid, block, vector in vectors:
                    copy.write_row((to_key(short_name(uuid)), to_number(block), len(vector), vector_text(vector)))
            self._asker.lock(connection)  # a step that is forgotten meanwhile takes its vectors with it
            name = "".join(model.rpartition(" ")[:2])
            given: dict[str, Any] = {"project": self._asker.project, "author": self._asker.author}
            given |= {"model": to_text(model), "name": to_text(name)}
            connection.execute(_TAKE_OTHER_VERSIONS, given)
            return connection.execute(_INSERT.format(schema=schema), given).rowcount


_READ = "SELECT mark FROM unified_state.replica WHERE project = %s AND author = %s AND archive = %s"
_KEEP = """
INSERT INTO unified_state.replica AS known (project, author, archive, mark) VALUES (%s, %s, %s, %s)
ON CONFLICT (project, author, archive) DO UPDATE SET mark = greatest(known.mark, excluded.mark)
"""


class Marks:
    """The marks of a member's archives of a project."""

    def __init__(self, transaction: Transaction, asker: Asker) -> None:
        self._transaction, self._asker = transaction, asker

    def read(self, archive: str) -> int:
        """The mark of an archive; see `MarkStore`."""
        with self._transaction() as (connection, _):
            row = connection.execute(_READ, [self._asker.project, self._asker.author, to_text(archive)]).fetchone()
            return int(row[0]) if row else 0

    def keep(self, archive: str, mark: int) -> None:
        """Raise the mark of an archive; see `MarkStore`."""
        with self._transaction() as (connection, _):
            connection.execute(_KEEP, [self._asker.project, self._asker.author, to_text(archive), mark])


def open_postgres(
    dsn: str,
    project: str,
    *,
    organisation: str,
    member: str,
    environ: Mapping[str, str] | None = None,
    trusts_environment: bool = False,
    own_only: bool = False,
) -> PostgresStore:
    """The store of a project on the server of a DSN; with `own_only` nothing of other members is read. Raises
    MissingExtraError, SettingError, StorageError, NewerVersionError; their texts hold no password.
    """
    try:
        import psycopg_pool  # noqa: F401  # the extra's last module
    except ImportError:
        message = "history on PostgreSQL needs the extra `postgres`"
        raise MissingExtraError(message, "pip install 'unified-state[postgres]'") from None
    from unified_state.team.local_server import EMBEDDED, start_embedded
    from unified_state.team.postgres.connections import Asker
    from unified_state.team.postgres.server_dsn import find_server

    if dsn.startswith(EMBEDDED):
        dsn = start_embedded(dsn.removeprefix(EMBEDDED))
    server = find_server(dsn, environ or {}, trusts_environment=trusts_environment)
    return PostgresStore(server, Asker(organisation, project, member), own_only=own_only)
