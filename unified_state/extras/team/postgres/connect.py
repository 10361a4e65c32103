"""A connection to the server, and PostgreSQL's errors as ours: one line with the remedy and without secrets."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from psycopg import Connection, Error, OperationalError, connect
from psycopg.errors import UndefinedTable

from unified_state.errors import NewerVersionError, StorageError
from unified_state.extras.team.postgres.schema import OLDEST_SERVER, VERSION
from unified_state.extras.team.postgres.server_dsn import Server

_HINTS = {
    "28P01": "check the password: in postgres_dsn, in $PGPASSWORD or in ~/.pgpass",
    "28000": "check the user in postgres_dsn, and the server's pg_hba.conf",
    "3D000": "an administrator runs `unified-state server init`",
    "42501": "an administrator runs `unified-state server admit`; see docs/extras/run-a-team-server.md",
    "08006": "a node of the server does not answer; the projects on other nodes are served, and nothing is lost",
    "25006": "it is a standby or read-only: postgres_dsn has to name the primary",
    "53100": "free some space on the server's disk",
    "53300": "it has no connection left; try again, or raise max_connections",
    "55P03": "another connection holds a lock there for too long; nothing is lost, the next sync sends it",
    "57014": "it took longer than it may; search with rarer words, or raise the role's statement_timeout",
    "57P03": "it is starting or recovering; try again",
}
_UNREACHABLE = "check postgres_dsn, and that the server runs; nothing is lost"
# Before a connection exists, libpq returns no code, only a message of the server or its own.
_TOLD = {
    "password authentication failed": _HINTS["28P01"],
    "no password supplied": _HINTS["28P01"],
    "authentication failed": _HINTS["28000"],
    "pg_hba.conf": _HINTS["28000"],
    'FATAL: role "': _HINTS["28000"],
    'FATAL: database "': _HINTS["3D000"],
    "permission denied for database": _HINTS["42501"],
    "too many c": _HINTS["53300"],  # clients, connections
    "starting up": _HINTS["57P03"],
    "does not support SSL": "the server has no TLS; if that is meant to be, add sslmode=disable to postgres_dsn",
    "certificate": "check sslmode and sslrootcert in postgres_dsn; see docs/extras/run-a-team-server.md",
}
logging.getLogger("psycopg").addHandler(logging.NullHandler())  # failures are raised as errors


def open_connection(server: Server, **others: Any) -> Connection[Any]:
    """Return a connection. Behind PgBouncer each transaction may have another session, so nothing is prepared."""
    parameters: dict[str, Any] = {**server.parameters, **others}
    return connect(**parameters, autocommit=True, prepare_threshold=None)


@contextmanager
def failures(server: Server) -> Iterator[None]:
    """Translate errors of PostgreSQL, without their cause, which may contain a secret."""
    try:
        yield
    except Error as error:
        raise _storage_error(error, server) from None


def _storage_error(error: Error, server: Server) -> StorageError:
    told = server.scrubbed(error.diag.message_primary or str(error))
    if error.sqlstate is None and isinstance(error, OperationalError):
        hint = next((hint for sign, hint in _TOLD.items() if sign in told), _UNREACHABLE)
        return StorageError(f"{server} cannot be reached: {told}", hint)
    hint = _HINTS.get(error.sqlstate or "", "the server's log has the details; nothing is lost")
    return StorageError(f"{server} cannot be used: {told}", hint)


def schema_version(connection: Connection[Any], server: Server) -> int:
    """Return the version of the schema, 0 without one. Raises NewerVersionError if it serves only newer clients."""
    try:
        row = connection.execute("SELECT version, serves_from FROM unified_state.server").fetchone()
    except UndefinedTable:
        return 0
    version, serves_from = row or (0, 0)
    if serves_from > VERSION:
        message = (
            f"{server} has schema version {version}, which serves versions from {serves_from} on; this is {VERSION}"
        )
        raise NewerVersionError(message, "update unified-state; nothing was changed")
    return int(version)


def check_version(connection: Connection[Any], server: Server) -> None:
    """Raise StorageError if the schema is missing or too old for this client, and NewerVersionError as above."""
    version = schema_version(connection, server)
    if version < OLDEST_SERVER:
        told = f"schema version {version}, and {OLDEST_SERVER} is needed" if version else "no schema of ours"
        message = f"{server} has {told}"
        raise StorageError(message, "an administrator runs `unified-state server init`")
