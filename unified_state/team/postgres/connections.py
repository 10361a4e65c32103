"""The connections of a store: psycopg's pool, which else would try for minutes what cannot be reached, and at last not
tell why.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from time import monotonic
from typing import Any

from psycopg import Connection, Error
from psycopg.errors import InsufficientPrivilege
from psycopg_pool import ConnectionPool, PoolTimeout

from unified_state.errors import StorageError
from unified_state.team.postgres.postgres_values import to_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from psycopg import Connection

    from unified_state.team.postgres.server_dsn import Server


_MOST = 16
_WAIT = 30.0  # seconds for one of them to come free
_LOOK = 0.2  # seconds between two looks whether connecting has failed
_OPTIONS = "-c client_min_messages=warning -c idle_in_transaction_session_timeout=60000 -c jit=off"
logging.getLogger("psycopg").addHandler(logging.NullHandler())  # what fails is raised, and said once


class Connections:
    """Connections that are made when they are needed, used again, and replaced where the server has ended them."""

    def __init__(self, parameters: dict[str, str]) -> None:
        given = {**parameters, "options": f"{parameters.get('options', '')} {_OPTIONS}".strip(), "autocommit": True}
        failed: list[tuple[float, Error]] = []

        class Told(Connection[tuple[Any, ...]]):
            """A connection whose failure to come about is noted."""

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
        """One connection, for as long as the block runs."""
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
        """Let go of them all."""
        self._pool.close()


_HAS_VECTORS = "SELECT to_regclass('unified_state.step_vector') IS NOT NULL"
_ASK = "SELECT unified_state.ask(%s, %s, %s)"
_TAKE = "SELECT unified_state.take_numbers(%s)"
_MOST_NAME = 1_000_000  # numbers that the server gives at a time


class Asker:
    """A member at work in a project: the server's numbers for both."""

    def __init__(self, organisation: str, project: str, member: str) -> None:
        self._names = [to_text(organisation), to_text(project), to_text(member)]
        self.organisation, self.member = organisation, member
        self.project = self.author = 0
        self.has_vectors = False
        self._place = ""

    def enter(self, connection: Connection[Any], server: Server) -> None:
        """Take one's place, and make it where it is new and that is allowed. Raises StorageError."""
        self._place = str(server)
        with connection.transaction():
            self.ask(connection)
            row = connection.execute("SELECT unified_state.project(), unified_state.author()").fetchone()
            if row is None or None in row:
                row = self._make_place(connection, server)
            self.project, self.author = row
            (self.has_vectors,) = connection.execute(_HAS_VECTORS).fetchone() or (False,)

    def _make_place(self, connection: Connection[Any], server: Server) -> tuple[int, int]:
        try:
            connection.execute("SELECT unified_state.enter()")
        except InsufficientPrivilege:
            message = f"{server}: {self.member!r} is no member of {self.organisation!r}, or another role's"
            raise StorageError(message, "an administrator admits members: SELECT unified_state.admit(…)") from None
        row = connection.execute("SELECT unified_state.project(), unified_state.author()").fetchone()
        if row is None or None in row:
            message = f"{server} has nothing of this project yet, and {self.member!r} may only read"
            raise StorageError(message, "somebody who may write opens it first")
        return (row[0], row[1])

    def ask(self, connection: Connection[Any]) -> list[int]:
        """Say who asks, for this transaction; the authors whose history is readable."""
        row = connection.execute(_ASK, self._names).fetchone()
        return list(row[0]) if row else []

    def lock(self, connection: Connection[Any]) -> None:
        """Wait for one's turn to write in this project; it ends with the transaction. Raises StorageError where one may
        only read.
        """
        self.take(connection, 0)

    def take(self, connection: Connection[Any], many: int) -> int:
        """Take the next numbers of the project, as many as that; returns the last one before them. Raises as `lock`."""
        try:
            (before,) = connection.execute(_TAKE, [min(many, _MOST_NAME)]).fetchone() or (0,)
            for begun in range(_MOST_NAME, many, _MOST_NAME):  # nobody else takes any meanwhile: they follow on
                connection.execute(_TAKE, [min(many - begun, _MOST_NAME)])
        except InsufficientPrivilege as error:
            message = f"{self._place}: {self.member!r} may only read: {error.diag.message_primary}"
            raise StorageError(message, "an administrator lets members write: SELECT unified_state.admit(…)") from None
        return int(before)
