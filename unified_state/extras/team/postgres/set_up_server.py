r"""What an administrator does: make the schema, let members in and out, name and delete projects.

Row security does not bind superusers, so everything is made as the owner's role, which needs no login. No statement
holds a password: the verifier that PostgreSQL stores is computed here, as psql's `\password` does. A role that this
module did not make is never changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from psycopg import Connection, OperationalError, ProgrammingError
from psycopg.errors import DependentObjectsStillExist, FeatureNotSupported, InsufficientPrivilege, UndefinedFile
from psycopg.sql import SQL, Identifier, Literal

from unified_state.errors import NotFoundError, StorageError, UsageError
from unified_state.extras.team.postgres.connect import failures, open_connection, schema_version
from unified_state.extras.team.postgres.schema import (
    DISTRIBUTE,
    GRANT_VECTORS,
    GRANTS,
    GROUP,
    MIGRATIONS,
    NEAREST,
    NESTED,
    REVOKED,
    REVOKED_BY_SUPERUSER,
    SERVES_FROM,
    VECTORS,
    VERSION,
)
from unified_state.extras.team.postgres.server_dsn import Server
from unified_state.lib.record import Record

OWNER = "unified_state"
_ELSEWHERE = "postgres"  # the database that every server has
# PostgreSQL cuts the name of a role after so many bytes, which may be another one's.
_NAME, _LONGEST_ROLE = re.compile(r"[\w][\w .-]{0,39}"), 63
_OWNED_BY = "SELECT pg_get_userbyid(nspowner)::text FROM pg_namespace WHERE nspname = 'unified_state'"
_VECTOR_SCHEMA = "SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'vector'"
_HAS_VECTORS = "SELECT FROM pg_attribute WHERE attrelid = 'unified_state.record'::regclass AND attname = 'embedding'"
_ROLE = "SELECT FROM pg_roles WHERE rolname = %s"
_MAY_NOT = "connect as an administrator, who may create databases and roles: --dsn postgresql://ADMINISTRATOR@HOST/…"
# What one member may take of the server. He could raise the times himself: see SECURITY.md.
_LIMITS = """
ALTER ROLE {role} CONNECTION LIMIT 20;
ALTER ROLE {role} SET statement_timeout = '60s';
ALTER ROLE {role} SET lock_timeout = '10s';
ALTER ROLE {role} SET idle_in_transaction_session_timeout = '60s';
ALTER ROLE {role} SET idle_session_timeout = '10min'
"""
_SPACE = "ALTER ROLE {role} SET temp_file_limit = '1GB'"  # only a superuser sets it, and only he may raise it
_LET_IN = """
INSERT INTO unified_state.membership AS known (organisation, member, login, writes, projects)
VALUES (%(organisation)s, %(member)s, %(login)s, %(writes)s, %(projects)s)
ON CONFLICT (organisation, member) DO UPDATE SET login = excluded.login, writes = excluded.writes,
    projects = excluded.projects
"""
_LET_OUT = "UPDATE unified_state.membership SET login = NULL WHERE organisation = %s AND member = %s"
_MEMBERS = """
SELECT member, login, writes, projects FROM unified_state.membership WHERE organisation = %s ORDER BY member
"""
_KNOWN = "SELECT login FROM unified_state.membership WHERE organisation = %s AND member = %s"
# Only `admit` lets a role into a group: so it made that role.
_IS_OURS = """
SELECT FROM pg_auth_members JOIN pg_roles AS groups ON groups.oid = roleid JOIN pg_roles ON pg_roles.oid = member
WHERE groups.rolname = %s AND pg_roles.rolname = %s
"""
_GROUPS = """
SELECT DISTINCT rolname::text FROM unified_state.membership JOIN pg_roles ON rolname = %s || organisation
"""
_MAY_WRITE = "SELECT has_table_privilege(%s, 'unified_state.record', 'INSERT')"
_MOVE = """
UPDATE unified_state.project SET name = %(to)s, former = former || name WHERE organisation = %(of)s AND name = %(name)s
"""
_MOVE_LISTS = """
UPDATE unified_state.membership SET projects = array_replace(projects, %(name)s, %(to)s) WHERE organisation = %(of)s
"""
_DELETE = "DELETE FROM unified_state.project WHERE organisation = %s AND name = %s RETURNING id"


class Admission(Record):
    """A member to admit. `ask_password` is called if the role gets a password: if it is new, or `resets_password`.

    `is_again` says that a member who was removed comes back. Without `projects` the member reads all of the
    organisation.
    """

    organisation: str
    member: str
    writes: bool = True
    projects: tuple[str, ...] | None = None
    is_again: bool = False
    ask_password: Callable[[], str] | None = None
    resets_password: bool = False


class Member(Record):
    """A member of an organisation. Without a login he was removed, and his records remain."""

    member: str
    login: str | None
    writes: bool
    projects: list[str] | None


@contextmanager
def _connecting(server: Server) -> Iterator[None]:
    """Raise StorageError for who is no administrator, and for PostgreSQL's other errors."""
    with failures(server):
        try:
            yield
        except InsufficientPrivilege as error:
            message = f"{server}: {server.scrubbed(error.diag.message_primary or str(error))}"
            raise StorageError(message, _MAY_NOT) from None


@contextmanager
def _administrating(server: Server) -> Iterator[Connection[Any]]:
    """Connect as the administrator. Raises StorageError."""
    with _connecting(server), open_connection(server) as connection:
        if schema_version(connection, server) < VERSION:
            message = f"{server} has no schema of this version"
            raise StorageError(message, "run `unified-state server init` first")
        yield connection


@contextmanager
def _as_owner(connection: Connection[Any]) -> Iterator[None]:
    """Run a block as the owner of the schema."""
    (owner,) = connection.execute(_OWNED_BY).fetchone() or ("",)
    connection.execute(SQL("SET LOCAL ROLE {}").format(Identifier(owner)))
    yield
    connection.execute("RESET ROLE")


def init_server(server: Server) -> dict[str, str]:
    """Create what is missing: the database, its owner, the schema. Return a line on each. Raises StorageError."""
    with _connecting(server):
        is_new = _make_database(server)
        with open_connection(server) as connection:
            connection.execute("SET client_min_messages = warning; SET lock_timeout = '10s'")
            name = _owner(connection, server)
            known = schema_version(connection, server)
            with connection.transaction():
                _migrate(connection, name, known)
            nodes = _distribute(connection, server, name)
            vectors = _add_vectors(connection, server, name)
            with connection.transaction():
                for (group,) in connection.execute(_GROUPS, [GROUP]).fetchall():
                    _grant(connection, server, str(group))
            hint = _revoke(connection, server) if is_new else ""
    told = "was created" if known == 0 else f"was migrated from {known}" if known < VERSION else "is there"
    schema = f"version {max(known, VERSION)} {told}, owned by {name}{nodes}"
    place = f"{server.parameters['dbname']!r} {'was created' if is_new else 'is there'}{hint}"
    return {"database": place, "schema": schema, "vectors": vectors}


def _make_database(server: Server) -> bool:
    """Create the database if there is none. Return whether it was."""
    name = server.parameters["dbname"]
    try:
        with open_connection(server) as connection:
            encoding = connection.info.parameter_status("server_encoding")
    except OperationalError as error:
        if f'database "{name}" does not exist' not in str(error):
            raise
    else:
        if encoding != "UTF8":
            message = f"{server} is encoded in {encoding}, which cannot hold all text"
            raise StorageError(message, "create another one: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0")
        return False
    with open_connection(server, dbname=_ELSEWHERE) as connection:
        connection.execute(SQL("CREATE DATABASE {} ENCODING 'UTF8' TEMPLATE template0").format(Identifier(name)))
    return True


def _owner(connection: Connection[Any], server: Server) -> str:
    """Return the role that owns the schema, or will own it: the administrator himself, unless he is a superuser."""
    found = connection.execute(_OWNED_BY).fetchone()
    if found is not None:
        return str(found[0])
    name, passes = connection.execute(
        "SELECT rolname::text, rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
    ).fetchone() or ("", False)
    if not passes:
        return str(name)
    if _is_new(connection, OWNER):
        connection.execute(SQL("CREATE ROLE {} NOLOGIN").format(Identifier(OWNER)))
    database = Identifier(server.parameters["dbname"])
    connection.execute(SQL("GRANT ALL ON DATABASE {} TO {}").format(database, Identifier(OWNER)))
    return OWNER


def _migrate(connection: Connection[Any], owner: str, known: int) -> None:
    """Bring the schema to this version. A newer one stays as it is."""
    if known >= VERSION:
        return
    connection.execute(SQL("SET LOCAL ROLE {}").format(Identifier(owner)))
    for migration in MIGRATIONS[known:]:
        connection.execute(migration)
    connection.execute("UPDATE unified_state.server SET version = %s, serves_from = %s", [VERSION, SERVES_FROM])


def _distribute(connection: Connection[Any], server: Server, owner: str) -> str:
    """Spread the records over the nodes of Citus, if the database has it. Return how many hold some."""
    if connection.execute("SELECT FROM pg_extension WHERE extname = 'citus'").fetchone() is None:
        return ""
    if connection.execute("SELECT FROM pg_dist_partition WHERE partmethod = 'h'").fetchone() is None:
        connection.execute(SQL(NESTED).format(database=Identifier(server.parameters["dbname"])))
        with connection.transaction():
            connection.execute(SQL("SET LOCAL ROLE {}").format(Identifier(owner)))
            connection.execute(DISTRIBUTE)
    (count,) = connection.execute("SELECT count(*) FROM citus_get_active_worker_nodes()").fetchone() or (0,)
    return f", on {count} nodes of Citus"


def _add_vectors(connection: Connection[Any], server: Server, owner: str) -> str:
    """Make place for vectors if the server has pgvector. Return what there is."""
    try:
        with connection.transaction():
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            (schema,) = connection.execute(_VECTOR_SCHEMA).fetchone() or ("",)
            connection.execute(SQL("SET LOCAL ROLE {}").format(Identifier(owner)))
            connection.execute(SQL(VECTORS).format(schema=Identifier(schema)))
            connection.execute("RESET ROLE")
            connection.execute(SQL(NEAREST).format(database=Identifier(server.parameters["dbname"])))
    except (ProgrammingError, FeatureNotSupported, UndefinedFile):  # it is too old, or may not be made
        major = connection.info.server_version // 10_000
        return (
            f"search by meaning does not work, all else does: install pgvector 0.8 (postgresql-{major}-pgvector), a "
            "superuser runs in this database CREATE EXTENSION vector, then `unified-state server init` again"
        )
    return "search by meaning works"


def _revoke(connection: Connection[Any], server: Server) -> str:
    """Revoke default rights that no member needs in a database of our own. Return what failed."""
    connection.execute(SQL(REVOKED).format(database=Identifier(server.parameters["dbname"])))
    with suppress(InsufficientPrivilege):
        connection.execute(REVOKED_BY_SUPERUSER)
        return ""
    return "; only a superuser takes large objects and advisory locks from its users"


def _is_new(connection: Connection[Any], role: str) -> bool:
    return connection.execute(_ROLE, [role]).fetchone() is None


def admit_member(server: Server, admission: Admission) -> dict[str, Any]:
    """Let a member in by a role. Return what was done. Raises StorageError, and UsageError for a role of others."""
    login, group = _roles(admission)
    with _administrating(server) as connection:
        known = connection.execute(_KNOWN, [admission.organisation, admission.member]).fetchone()
        if known == (None,) and not admission.is_again:
            message = f"{admission.member!r} was a member of {admission.organisation!r}, and has records there"
            raise UsageError(message, "if it is the same person, say --again; otherwise take another name")
        is_new = _is_new(connection, login)
        if not is_new and connection.execute(_IS_OURS, [group, login]).fetchone() is None:
            message = f"the role {login!r} is there, and was not made by `server admit`"
            raise UsageError(message, "take another name for the member")
        password = None
        if admission.ask_password is not None and (is_new or admission.resets_password):
            password = admission.ask_password()
        if _is_new(connection, group):  # at once, so that each node of Citus knows it
            connection.execute(SQL("CREATE ROLE {} NOLOGIN").format(Identifier(group)))
        with connection.transaction():
            if is_new:
                connection.execute(SQL("CREATE ROLE {} LOGIN").format(Identifier(login)))
                connection.execute(SQL(_LIMITS).format(role=Identifier(login)))
                with suppress(InsufficientPrivilege), connection.transaction():
                    connection.execute(SQL(_SPACE).format(role=Identifier(login)))
            if password is not None:
                _set_password(connection, login, password)
            _let_in(connection, server, admission, login)
    return {"role": login, "is_new": is_new, "has_new_password": password is not None}


def _roles(admission: Admission) -> tuple[str, str]:
    """Return the names of the member's role and of the organisation's. Raises UsageError."""
    for name in (admission.organisation, admission.member):
        if not _NAME.fullmatch(name):
            message = f"{name[:60]!r} cannot be a name"
            raise UsageError(message, "take letters, digits and . _ - and spaces, 40 at most")
    roles = f"{admission.member}_{admission.organisation}", GROUP + admission.organisation
    for role in roles:
        if len(role.encode()) > _LONGEST_ROLE:
            message = f"{role!r} cannot be a name of a role"
            raise UsageError(message, f"take a shorter one: PostgreSQL cuts it after {_LONGEST_ROLE} bytes")
    return roles


def _let_in(connection: Connection[Any], server: Server, admission: Admission, login: str) -> None:
    group = GROUP + admission.organisation
    if connection.execute(_MAY_WRITE, [group]).fetchone() != (True,):
        _grant(connection, server, group)
    with _as_owner(connection):
        projects = None if admission.projects is None else list(admission.projects)
        given = {"organisation": admission.organisation, "member": admission.member, "login": login}
        connection.execute(_LET_IN, {**given, "writes": admission.writes, "projects": projects})
    connection.execute(SQL("GRANT {} TO {}").format(Identifier(group), Identifier(login)))


def _grant(connection: Connection[Any], server: Server, group: str) -> None:
    """Let an organisation's group use the database and the schema, once: each grant writes catalogs anew."""
    database, given = Identifier(server.parameters["dbname"]), Identifier(group)
    connection.execute(SQL("GRANT CONNECT ON DATABASE {} TO {}").format(database, given))
    with _as_owner(connection):
        connection.execute(SQL(GRANTS).format(group=given))
        if connection.execute(_HAS_VECTORS).fetchone() is not None:
            connection.execute(SQL(GRANT_VECTORS).format(group=given))


def _set_password(connection: Connection[Any], role: str, password: str) -> None:
    """Set a password by its SCRAM verifier, so that no statement and no log of the server holds the password."""
    verifier = connection.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256").decode()
    connection.execute(SQL("ALTER ROLE {} PASSWORD {}").format(Identifier(role), Literal(verifier)))


def remove_member(server: Server, organisation: str, member: str) -> str:
    """Take a member's access, and drop his role. His records remain. Return the role's name."""
    group = GROUP + organisation
    with _administrating(server) as connection, connection.transaction():
        with _as_owner(connection):
            (login,) = connection.execute(_KNOWN, [organisation, member]).fetchone() or (None,)
            if login is None:
                message = f"{member!r} is no member of {organisation!r}"
                raise NotFoundError(message, "`unified-state server members` lists them")
            connection.execute(_LET_OUT, [organisation, member])
        if connection.execute(_IS_OURS, [group, login]).fetchone() is not None:
            connection.execute(SQL("REVOKE {} FROM {}").format(Identifier(group), Identifier(login)))
            with suppress(InsufficientPrivilege), connection.transaction():  # what he began ends with his access anyway
                connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s", [login])
            try:
                with connection.transaction():
                    connection.execute(SQL("DROP ROLE {}").format(Identifier(login)))
            except DependentObjectsStillExist:  # an administrator gave it something
                connection.execute(SQL("ALTER ROLE {} NOLOGIN").format(Identifier(login)))
        return str(login)


def list_members(server: Server, organisation: str) -> list[Member]:
    """Return the members of an organisation, and who was one."""
    with _administrating(server) as connection, connection.transaction(), _as_owner(connection):
        rows = connection.execute(_MEMBERS, [organisation]).fetchall()
    return [Member(*row) for row in rows]


def move_project(server: Server, organisation: str, name: str, to: str) -> None:
    """Give a project another name. It is found by the earlier one, too. Raises NotFoundError and UsageError."""
    given = {"of": organisation, "name": name, "to": to}
    with _administrating(server) as connection, connection.transaction(), _as_owner(connection):
        taken = "SELECT FROM unified_state.project WHERE organisation = %(of)s AND name = %(to)s"
        if connection.execute(taken, given).fetchone() is not None:
            message = f"{organisation!r} has a project {to!r} already"
            raise UsageError(message, "delete one of the two, then sync again")
        if not connection.execute(_MOVE, given).rowcount:
            raise _no_project(organisation, name)
        connection.execute(_MOVE_LISTS, given)


def delete_project(server: Server, organisation: str, name: str) -> int:
    """Delete a project with all its records. Return their number. Raises NotFoundError."""
    with _administrating(server) as connection, connection.transaction(), _as_owner(connection):
        row = connection.execute(_DELETE, [organisation, name]).fetchone()
        if row is None:
            raise _no_project(organisation, name)
        return connection.execute("DELETE FROM unified_state.record WHERE project = %s", [row[0]]).rowcount


def _no_project(organisation: str, name: str) -> NotFoundError:
    message = f"{organisation!r} has no project {name!r}"
    return NotFoundError(message, "its name is that of the repository's `origin`: github.com/acme/app")
