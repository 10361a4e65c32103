"""The connections of a store: psycopg's pool, which else would try for minutes what cannot be reached, and at last not
tell why.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

from psycopg import Connection, Error
from psycopg_pool import ConnectionPool, PoolTimeout

if TYPE_CHECKING:
    from collections.abc import Iterator


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
