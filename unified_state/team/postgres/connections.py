"""The connections of a store, and the translation of PostgreSQL's errors.

psycopg's pool alone would retry an unreachable server for minutes, and then not report the cause.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from psycopg import Connection, Error, OperationalError
from psycopg.errors import InsufficientPrivilege
from psycopg_pool import ConnectionPool, PoolTimeout

from unified_state.errors import StorageError
from unified_state.lib.record import Record
from unified_state.team.postgres.postgres_values import from_record, to_text
from unified_state.team.postgres.server_dsn import Server

if TYPE_CHECKING:
    from psycopg import Connection

R = TypeVar("R")

_DAMAGED = "its owner mends an index with REINDEX SCHEMA unified_state, a table from a backup; nothing is lost"
_HINTS = {
    "28P01": "check the password: in postgres_dsn, in $PGPASSWORD or in ~/.pgpass",
    "28000": "check the user in postgres_dsn, and the server's pg_hba.conf",
    "3D000": "an administrator creates it: CREATE DATABASE …",
    "42501": "an administrator grants what is missing; see docs/how-to/run-a-team-server.md",
    "08006": "a node of the server does not answer; the projects on other nodes are served, and nothing is lost",
    "25006": "it is a standby or read-only: postgres_dsn has to name the primary",
    "53100": "free some space on the server's disk",
    "53300": "it has no connection left; try again, or raise max_connections",
    "57014": "it took longer than it may; search with rarer words, or raise the role's statement_timeout",
    "57P03": "it is starting or recovering; try again",
    "XX001": _DAMAGED,
    "XX002": _DAMAGED,
}
_HELD_UP = ("55P03", "40P01")  # lock_timeout, and a deadlock
_HOLDING = (
    "nothing is lost, the next sync sends it; if it goes on, an administrator ends who holds it: "
    "see docs/how-to/run-a-team-server.md"
)
_ADMITTING = "an administrator runs `unified-state server admit`, or SELECT unified_state.admit(…)"
_UNREACHABLE = "check postgres_dsn, and that the server runs; nothing is lost"
# Before a connection exists, libpq returns no code, only a message of the server or its own.
_TOLD = {
    "password authentication failed": _HINTS["28P01"],
    "no password supplied": _HINTS["28P01"],
    "authentication failed": _HINTS["28000"],
    "pg_hba.conf": _HINTS["28000"],
    'FATAL: role "': _HINTS["28000"],
    'FATAL: database "': _HINTS["3D000"],
    "too many clients": _HINTS["53300"],
    "starting up": _HINTS["57P03"],
    "does not support SSL": "the server has no TLS; if that is meant to be, add sslmode=disable to postgres_dsn",
    "certificate": "check sslmode and sslrootcert in postgres_dsn; see docs/how-to/run-a-team-server.md",
}


@contextmanager
def failures(server: Server) -> Iterator[None]:
    """Translate errors of PostgreSQL, without their cause, which may contain a secret."""
    try:
        yield
    except Error as error:
        raise storage_error(error, server) from None


def storage_error(error: Error, server: Server) -> StorageError:
    """Return our error for one of PostgreSQL's: one line with the remedy and without secrets."""
    told = server.scrubbed(error.diag.message_primary or str(error))
    if isinstance(error, PoolTimeout):
        return StorageError(f"{server} does not answer", "nothing is lost; try again when it does")
    if error.sqlstate is None and isinstance(error, OperationalError):
        hint = next((hint for sign, hint in _TOLD.items() if sign in told), _UNREACHABLE)
        return StorageError(f"{server} cannot be reached: {told}", hint)
    if error.sqlstate in _HELD_UP:
        return StorageError(f"{server} is held up: another connection holds a lock there for too long", _HOLDING)
    hint = _HINTS.get(error.sqlstate or "", "the server's log has the details; nothing is lost")
    return StorageError(f"{server} cannot be used: {told}", hint)


_MOST = 16
_WAIT = 30.0  # seconds to wait for a free connection
_LOOK = 0.2  # seconds between two checks whether connecting has failed
logging.getLogger("psycopg").addHandler(logging.NullHandler())  # failures are raised as errors


class Connections:
    """A pool of connections that are opened on demand, reused, and replaced if the server closed them.

    Behind PgBouncer each transaction may have another session of the server. So nothing is prepared, no startup option
    is sent, and all settings are those of a transaction.
    """

    def __init__(self, parameters: dict[str, str]) -> None:
        given = {**parameters, "autocommit": True, "prepare_threshold": None}
        failed: list[tuple[float, Error]] = []

        class Told(Connection[tuple[Any, ...]]):
            """A connection that records why it could not be opened."""

            @classmethod
            def connect(cls, conninfo: str = "", **kwargs: Any) -> Any:
                try:
                    return super().connect(conninfo, **kwargs)
                except Error as error:
                    failed[:] = [(monotonic(), error)]
                    raise

        self._failed = failed
        self._pool: ConnectionPool[Connection[Any]] = ConnectionPool(
            connection_class=Told,
            kwargs=given,
            min_size=0,
            max_size=_MOST,
            reconnect_timeout=0,
            check=ConnectionPool.check_connection,
            open=True,
        )

    @contextmanager
    def one(self) -> Iterator[Connection[Any]]:
        """Lend a connection to the block. Raises PoolTimeout, or the error of the failed connection."""
        connection = self._wait()
        try:
            with connection:
                yield connection
        finally:
            self._pool.putconn(connection)

    def _wait(self) -> Connection[Any]:
        begun = monotonic()
        while True:
            try:
                return self._pool.getconn(timeout=_LOOK)
            except PoolTimeout:
                if self._failed and self._failed[0][0] >= begun:
                    raise self._failed[0][1] from None
                if monotonic() - begun > _WAIT:
                    raise

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()


OWN = "project = %(project)s AND author = %(author)s"  # the rows of the asker
_HAS = """
SELECT to_regclass('unified_state.step_vector') IS NOT NULL, relkind = 'r' FROM pg_class
WHERE oid = to_regclass('unified_state.step')
"""
_ASK = "SELECT unified_state.ask(%s, %s, %s)"
_TAKE = "SELECT unified_state.take_numbers(%(many)s)"
_TAKE_THERE = "SELECT * FROM unified_state.take_numbers_there(%(project)s::bigint, %(many)s::bigint)"
_MOST_NAME = 1_000_000  # numbers that the server assigns at a time


class Asker:
    """A member who works in a project, with the server's numbers for both.

    Colleagues do not read new items from before `items_since` (ISO 8601) unless the member agreed to that. `skipped`
    counts records of colleagues that could not be read.
    """

    def __init__(self, organisation: str, project: str, member: str) -> None:
        self.items_since = ""
        self.skipped = 0
        self._names = [to_text(organisation), to_text(project), to_text(member)]
        self.organisation, self.member = organisation, member
        self.project = self.author = 0
        self.has_vectors = self.is_distributed = False
        self._place = ""

    @property
    def names(self) -> dict[str, str]:
        """Return the names of the organisation, the project and the member, as the server stores them."""
        return dict(zip(("organisation", "project_name", "member"), self._names, strict=True))

    def given(self, **values: Any) -> dict[str, Any]:
        """Return the parameters of a statement, with the asker's project and author."""
        return {"project": self.project, "author": self.author, **values}

    def enter(self, connection: Connection[Any], server: Server) -> None:
        """Look up the numbers of project and member, and create them if allowed. Raises StorageError."""
        self._place = str(server)
        with connection.transaction():
            self.ask(connection)
            self.project, self.author = _numbers(connection) or self._make_place(connection, server)
            (self.has_vectors, self.is_distributed) = connection.execute(_HAS).fetchone() or (False, False)

    def _make_place(self, connection: Connection[Any], server: Server) -> tuple[int, int]:
        try:
            connection.execute("SELECT unified_state.enter()")
        except InsufficientPrivilege:
            message = f"{server}: {self.member!r} is no member of {self.organisation!r}, or another role's"
            raise StorageError(message, _ADMITTING) from None
        numbers = _numbers(connection)
        if numbers is None:
            message = f"{server} has nothing of this project yet, and {self.member!r} may only read"
            raise StorageError(message, "a member who may write opens it first")
        return numbers

    def ask(self, connection: Connection[Any]) -> list[int]:
        """Set the asker in this transaction. Return the authors whose history is readable."""
        row = connection.execute(_ASK, self._names).fetchone()
        return list(row[0]) if row else []

    def sound(self, author: int, read: Callable[..., R], *row: Any) -> list[R]:
        """Return the record that `read` makes of a row. One of a colleague that is damaged is left out and counted.

        Raises StorageError for a damaged one of the asker.
        """
        try:
            return [read(*row)]
        except StorageError:
            if author == self.author:
                raise
        self.skipped += 1
        return []

    def records(self, kind: type[Record], author: int, stored: str | bytes) -> list[Any]:
        """Return the record of a column `record`, as `sound` does."""
        return self.sound(author, partial(from_record, is_own=author == self.author), kind, stored)

    def lock(self, connection: Connection[Any]) -> None:
        """Lock the project until the transaction ends. Raises StorageError for a member with read access only."""
        self.take(connection, 0)

    def take(self, connection: Connection[Any], many: int) -> int:
        """Reserve numbers of the project. Return the number before the first of them. Raises StorageError as `lock`
        does.
        """
        try:
            take = _TAKE_THERE if self.is_distributed else _TAKE
            (before,) = connection.execute(take, self.given(many=min(many, _MOST_NAME))).fetchone() or (0,)
            for begun in range(_MOST_NAME, many, _MOST_NAME):  # consecutive, because the project is locked
                connection.execute(take, self.given(many=min(many - begun, _MOST_NAME)))
        except InsufficientPrivilege as error:
            message = f"{self._place}: {self.member!r} may only read: {error.diag.message_primary}"
            raise StorageError(message, _ADMITTING) from None
        return int(before)


def _numbers(connection: Connection[Any]) -> tuple[int, int] | None:
    """Return the numbers of the asker's project and of the asker, or None unless both exist."""
    row = connection.execute("SELECT unified_state.project(), unified_state.author()").fetchone()
    return None if row is None or None in row else (row[0], row[1])
