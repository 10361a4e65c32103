"""Check what works on a server for a member, and what does not. Nothing is changed there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from unified_state.errors import NewerVersionError, StorageError
from unified_state.model.check import Check, bad, good
from unified_state.team.postgres.connections import Connections, failures
from unified_state.team.postgres.migrate_server import OLDEST, how_to_get_vectors, own_role, schema_version
from unified_state.team.postgres.postgres_values import to_text
from unified_state.team.postgres.schema.server_migrations import SCHEMA_VERSION
from unified_state.team.postgres.server_dsn import Server

if TYPE_CHECKING:
    from psycopg import Connection

_INIT = "an administrator runs `unified-state server init`"
_MAY = """
SELECT has_database_privilege(current_database(), 'TEMPORARY'), to_regnamespace('unified_state') IS NOT NULL,
    coalesce(has_schema_privilege(to_regnamespace('unified_state')::oid, 'USAGE'), false)
"""
_MEMBER = """
SELECT unified_state.author(), unified_state.may_write(), cardinality(unified_state.readable()),
    unified_state.sharing(), has_table_privilege('unified_state.member', 'SELECT')
"""
_NOBODY: tuple[Any, ...] = (None, False, 0, (), False)
_IS_BOUND = "SELECT EXISTS (SELECT FROM unified_state.member WHERE role IS NOT NULL)"


def check_server(server: Server, organisation: str, member: str) -> Iterator[Check]:
    """Yield what works and what does not, until something is missing that the rest needs."""
    connections = Connections(server.parameters)
    try:
        with failures(server), connections.one() as connection:
            yield from _check(connection, server, organisation, member)
    except (StorageError, NewerVersionError) as error:
        yield bad("server", error.message, error.hint)
    finally:
        connections.close()


def share_earlier_items(server: Server, organisation: str, member: str, *, whether: bool) -> None:
    """Let colleagues find the items from before they could, or not any more. Raises StorageError."""
    connections = Connections(server.parameters)
    try:
        with failures(server), connections.one() as connection, connection.transaction():
            connection.execute("SELECT unified_state.ask(%s, '', %s)", [to_text(organisation), to_text(member)])
            (author,) = connection.execute("SELECT unified_state.author()").fetchone() or (None,)
            if author is None:
                message = f"{server}: {member!r} is no member of {organisation!r}, or another role's"
                raise StorageError(message, "`unified-state sync` first, or ask an administrator to admit you")
            connection.execute("SELECT unified_state.share_earlier(%s)", [whether])
    finally:
        connections.close()


def _check(connection: Connection[Any], server: Server, organisation: str, member: str) -> Iterator[Check]:
    yield _reached(connection, server)
    yield _encoding(connection)
    passes, user = own_role(connection)
    if passes:
        message = f"{user!r} is a superuser, and bypasses row security: unified-state refuses it"
        yield bad("user", message, "put a member's own role into postgres_dsn")
    may_make_tables, has_schema, may_use = connection.execute(_MAY).fetchone() or (False, False, False)
    if not may_make_tables:
        hint = f"an administrator: GRANT CONNECT, TEMPORARY ON DATABASE … TO {user}"
        yield bad("user", f"{user!r} may not make temporary tables", hint)
    if has_schema and not may_use:
        yield _no_member(user, organisation, member)
        return
    known = schema_version(connection, server)
    yield _schema(known)
    yield _vectors(connection)
    if known == SCHEMA_VERSION and not passes:
        yield from _membership(connection, user, organisation, member)


def _reached(connection: Connection[Any], server: Server) -> Check:
    number = connection.info.server_version
    told = f"{server}: PostgreSQL {number // 10_000}, {'with' if connection.pgconn.ssl_in_use else 'without'} TLS"
    hint = f"PostgreSQL {OLDEST // 10_000} or newer is needed"
    return Check("server", ok=number >= OLDEST, message=told, hint=hint)


def _encoding(connection: Connection[Any]) -> Check:
    encoding = connection.info.parameter_status("server_encoding")
    hint = "an administrator creates another database: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0"
    return Check("encoding", ok=encoding == "UTF8", message=str(encoding), hint=hint)


def _schema(known: int) -> Check:
    if known == SCHEMA_VERSION:
        return good("schema", f"version {known}")
    told = f"version {known} is too old; {SCHEMA_VERSION} is needed" if known else "there is no schema of ours"
    return bad("schema", told, _INIT)


def _vectors(connection: Connection[Any]) -> Check:
    """Check search by meaning, which a server may do without."""
    has_table = connection.execute("SELECT to_regclass('unified_state.step_vector') IS NOT NULL").fetchone() == (True,)
    if has_table:
        return good("vectors", "search by meaning works")
    hint = how_to_get_vectors(connection) or _INIT
    return good("vectors", f"search by meaning does not work, all else does: {hint}")


def _membership(connection: Connection[Any], user: str, organisation: str, member: str) -> Iterator[Check]:
    with connection.transaction():
        connection.execute("SELECT unified_state.ask(%s, '', %s)", [to_text(organisation), to_text(member)])
        author, may_write, readable, sharing, is_owner = connection.execute(_MEMBER).fetchone() or _NOBODY
        may_enter = author is None and is_owner and connection.execute(_IS_BOUND).fetchone() == (False,)
    told = f"{user!r} is {member!r} of {organisation!r}"
    if may_enter:
        yield good("member", f"{told} from the first sync on")
    elif author is None:
        yield _no_member(user, organisation, member)
    else:
        yield good("member", f"{told}, and {'writes' if may_write else 'only reads'}")
        yield good("sharing", _told_sharing(readable - 1, *sharing))


def _told_sharing(others: int, organisation_shares: bool, shares: bool, shares_earlier: bool) -> str:
    if not organisation_shares:
        return "members of this organisation do not read each other's history"
    theirs = "they read yours" if shares else "they do not read yours"
    earlier = ", with earlier decisions" if shares and shares_earlier else ""
    return f"you read the history of {others} others; {theirs}{earlier}"


def _no_member(user: str, organisation: str, member: str) -> Check:
    command = f"unified-state server admit {member} --organisation {organisation} --role {user} --existing-role"
    hint = f"an administrator who knows that this role is yours runs `{command}`"
    return bad("member", f"{user!r} is not {member!r} of {organisation!r}", hint)
