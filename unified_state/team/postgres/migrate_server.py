"""Migrate the server's schema. The first process with sufficient rights updates it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from psycopg import sql
from psycopg.errors import DuplicateSchema, InsufficientPrivilege, UndefinedFile, UniqueViolation

from unified_state.errors import NewerVersionError, StorageError
from unified_state.team.postgres.schema.server_migrations import (
    FUNCTIONS,
    SCHEMA_VERSION,
    VERSION,
    distribution,
    migrations,
    nearest,
    vectors,
)
from unified_state.team.postgres.server_dsn import Server

if TYPE_CHECKING:
    from psycopg import Connection

OLDEST = 140000  # PostgreSQL 14
# Members cannot take this lock, as they could an advisory one. A member's locks delay no migration longer.
_LOCK = "LOCK TABLE unified_state.version IN SHARE ROW EXCLUSIVE MODE"
_CAREFULLY = "SET LOCAL search_path = pg_catalog, pg_temp; SET LOCAL lock_timeout = '1min'"


_SELF = "SELECT rolsuper OR rolbypassrls, current_user::text FROM pg_roles WHERE rolname = current_user"
_WANTING = """
SELECT to_regclass('unified_state.step_vector') IS NULL AND pg_has_role(nspowner, 'USAGE')
    AND EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'vector')
    AND NOT current_setting('transaction_read_only')::boolean
FROM pg_namespace WHERE nspname = 'unified_state'
"""


# A new schema is laid out for the server's kind. An existing schema keeps its layout.
_IS_DISTRIBUTED = """
SELECT coalesce((SELECT relkind <> 'p' FROM pg_class WHERE oid = to_regclass('unified_state.step')),
    EXISTS (SELECT 1 FROM pg_proc WHERE proname = 'create_distributed_table'
        AND pronamespace = 'pg_catalog'::regnamespace))
"""


_EXTENSION = """
SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'vector'
    AND to_regtype(extnamespace::regnamespace || '.halfvec') IS NOT NULL  -- from version 0.7 on
"""
_EXTENSION_IN_USE = f"{_EXTENSION} AND to_regclass('unified_state.step_vector') IS NOT NULL"


_NEEDED = (0, 7)  # the first version with the type halfvec
_AVAILABLE = """
SELECT default_version, (SELECT extversion FROM pg_extension WHERE extname = 'vector')
FROM pg_available_extensions WHERE name = 'vector'
"""


def migrate(connection: Connection[Any], server: Server) -> None:
    """Create or migrate the schema. Raises StorageError, and NewerVersionError for a schema of a newer version."""
    if connection.info.server_version < OLDEST:
        message = f"{server} is PostgreSQL {connection.info.server_version // 10_000}, which is too old"
        raise StorageError(message, f"version {OLDEST // 10_000} or newer is needed")
    _check_encoding(connection, server)
    _check_role(connection, server)
    if schema_version(connection, server) < SCHEMA_VERSION:
        _apply(connection, server)
    _add_vectors(connection)


def _apply(connection: Connection[Any], server: Server) -> None:
    known = schema_version(connection, server)
    try:
        try:
            _apply_under_lock(connection, server)
        except (DuplicateSchema, UniqueViolation):
            if known:
                raise
            _apply_under_lock(connection, server)  # another process created it at the same time
    except InsufficientPrivilege as error:
        lacks = f"has schema version {known}, which is too old" if known else "has no schema of ours yet"
        message = f"{server} {lacks}, and this user may not make it: {server.scrubbed(str(error))}"
        raise StorageError(
            message, "`unified-state server init`: its owner opens it once with this version, and admits the others"
        ) from None


def _apply_under_lock(connection: Connection[Any], server: Server) -> None:
    with connection.transaction():
        connection.execute(_CAREFULLY)
        if schema_version(connection, server):
            connection.execute(_LOCK)
        known = schema_version(connection, server)
        if known < SCHEMA_VERSION:
            _bring_up_to_date(connection, known)


def _bring_up_to_date(connection: Connection[Any], known: int) -> None:
    distributed = _is_distributed(connection)
    if known == 0:
        connection.execute(VERSION)
    for number, migration in enumerate(migrations(distributed=distributed), 1):
        if number > known:
            connection.execute(_owned(connection, migration))
            connection.execute("INSERT INTO unified_state.version (number) VALUES (%s)", [number])
    connection.execute(FUNCTIONS)
    row = connection.execute(_EXTENSION_IN_USE).fetchone()
    if row is not None:
        connection.execute(nearest(row[0]))
    if distributed:
        connection.execute(distribution(known))


def _add_vectors(connection: Connection[Any]) -> None:
    """Create the table of vectors if the server has the extension `vector`, or this user may install it."""
    (wanting,) = connection.execute(_WANTING).fetchone() or (False,)
    if not wanting:
        return
    with connection.transaction():
        connection.execute(_LOCK)
        with suppress(InsufficientPrivilege, UndefinedFile), connection.transaction():
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute(_CAREFULLY)
        (wanting,) = connection.execute(_WANTING).fetchone() or (False,)
        row = connection.execute(_EXTENSION).fetchone()
        if wanting and row is not None:
            connection.execute(_owned(connection, vectors(row[0], distributed=_is_distributed(connection))))


def _owned(connection: Connection[Any], statements: str) -> str:
    """Return statements with the name of this user, who owns the tables."""
    return statements.replace("{owner}", sql.Literal(connection.info.user).as_string(connection))


def _is_distributed(connection: Connection[Any]) -> bool:
    (distributed,) = connection.execute(_IS_DISTRIBUTED).fetchone() or (False,)
    return bool(distributed)


def _check_encoding(connection: Connection[Any], server: Server) -> None:
    """Raise StorageError for any encoding but UTF-8, because no other one can store all text."""
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        message = f"{server} is encoded in {encoding}, which cannot hold all text"
        raise StorageError(message, "an administrator creates it: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0")


def _check_role(connection: Connection[Any], server: Server) -> None:
    """Raise StorageError for a role that bypasses row security."""
    passes, user = own_role(connection)
    if passes:
        message = f"{server}: the user {user!r} is a superuser, and bypasses row security"
        raise StorageError(message, "connect as an ordinary role that owns the database")


def own_role(connection: Connection[Any]) -> tuple[bool, str]:
    """Return whether this user bypasses row security, as superusers do, and the user's name."""
    row = connection.execute(_SELF).fetchone()
    return (bool(row[0]), str(row[1])) if row else (False, "")


def server_identity(connection: Connection[Any]) -> str:
    """Return the id of the server, which it has under every address."""
    (identity,) = connection.execute("SELECT server FROM unified_state.version WHERE number = 1").fetchone() or ("",)
    return str(identity or "")


def schema_version(connection: Connection[Any], server: Server) -> int:
    """Return the version of the schema, or 0 if there is none. Raises NewerVersionError."""
    (found,) = connection.execute("SELECT to_regclass('unified_state.version') IS NOT NULL").fetchone() or (False,)
    if not found:
        return 0
    (number,) = connection.execute("SELECT coalesce(max(number), 0) FROM unified_state.version").fetchone() or (0,)
    if number > SCHEMA_VERSION:
        message = f"{server} has schema version {number}, and this unified-state knows up to {SCHEMA_VERSION}"
        raise NewerVersionError(message, "update unified-state; nothing was changed")
    return int(number)


def how_to_get_vectors(connection: Connection[Any]) -> str | None:
    """Return what an administrator does to get the extension, or None if the server has it."""
    row = connection.execute(_AVAILABLE).fetchone()
    major = connection.info.server_version // 10_000
    if row is None or _version(row[0]) < _NEEDED:
        return (
            f"install pgvector 0.7 or newer for PostgreSQL {major} (https://github.com/pgvector/pgvector; with apt "
            f"from apt.postgresql.org: postgresql-{major}-pgvector), then run `unified-state server init` again"
        )
    if row[1] is not None and _version(row[1]) < _NEEDED:
        return "a superuser runs in this database: ALTER EXTENSION vector UPDATE"
    return None


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdigit())
