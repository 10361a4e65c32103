r"""Set a server up as its administrator: the database, the role that owns the schema, the schema, and members.

An administrator may be a superuser. Row security does not bind superusers, so everything is made as the owner's role,
which needs no login. No statement holds a password: the verifier that PostgreSQL stores is computed here, as psql's
`\password` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from psycopg import Connection, OperationalError, connect
from psycopg.errors import FeatureNotSupported, InsufficientPrivilege, UndefinedFile
from psycopg.sql import SQL, Identifier, Literal

from unified_state.errors import StorageError, UsageError
from unified_state.lib.record import Record
from unified_state.team.postgres.connections import failures
from unified_state.team.postgres.migrate_server import how_to_get_vectors, migrate, own_role, schema_version
from unified_state.team.postgres.schema.server_migrations import SCHEMA_VERSION
from unified_state.team.postgres.server_dsn import Server

if TYPE_CHECKING:
    from psycopg.abc import Query

OWNER = "unified_state"
_ELSEWHERE = "postgres"  # the database that every server has
_SCHEMA_OWNER = "SELECT pg_get_userbyid(nspowner)::text FROM pg_namespace WHERE nspname = 'unified_state'"
_ROLE = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = %s"
_AS_OWNER = SQL("SET LOCAL ROLE {}")
_BOUND = "SELECT organisation, name FROM unified_state.member WHERE role = %s"
_LIFTED = "SET LOCAL lock_timeout = '5s'; ALTER TABLE unified_state.member NO FORCE ROW LEVEL SECURITY"
_FORCED = "ALTER TABLE unified_state.member FORCE ROW LEVEL SECURITY"
_MAY_NOT = "connect as an administrator, who may create databases and roles: --dsn postgresql://ADMINISTRATOR@HOST/…"
_UNBOUND = """
SELECT name FROM unified_state.member WHERE organisation = %s AND role IS NULL ORDER BY name
"""


class Done(Record):
    """What `server init` found and made: one line each. `vectors_hint` says how to get pgvector, if it is missing."""

    database: str
    owner: str
    schema: str
    vectors: str
    vectors_hint: str = ""


class Admission(Record):
    """A member to admit: the names of the role, the organisation and the member.

    `ask_password` returns the password, and is called if the role gets one: if it is new, or with `resets_password`. A
    role that was not made for this member is refused unless `takes_role` is set.
    """

    role: str
    organisation: str
    member: str
    writes: bool = True
    ask_password: Callable[[], str] | None = None
    resets_password: bool = False
    takes_role: bool = False


class Admitted(Record):
    """The result of an admission. `unbound` are members of the organisation who have no role yet, and so lose
    access.
    """

    role: str
    is_new: bool
    has_new_password: bool
    unbound: tuple[str, ...]


def init_server(server: Server, owner: str = OWNER) -> Done:
    """Create what is missing of a database, its owner, the schema and the extension `vector`. Raises StorageError."""
    with failures(server), _administrating(server):
        database = _make_database(server)
        with _connected(server) as connection:
            name = _own(connection, server, owner)
            vectors, hint = _make_vectors(connection)
            connection.execute(SQL("SET ROLE {}").format(Identifier(name)))
            known = schema_version(connection, server)
            migrate(connection, server)
            now = schema_version(connection, server)
    return Done(database, name, _told_schema(known, now), vectors, hint)


def admit_member(server: Server, admission: Admission) -> Admitted:
    """Bind a member of an organisation to a role, which is created if it does not exist. Raises StorageError, and
    UsageError for a role that was not made for this member.
    """
    with failures(server), _administrating(server), _connected(server) as connection:
        owner = connection.execute(_SCHEMA_OWNER).fetchone()
        if owner is None or schema_version(connection, server) < SCHEMA_VERSION:
            message = f"{server} has no schema of this version"
            raise StorageError(message, "run `unified-state server init` first")
        is_new = _is_new(connection, server, admission.role)
        if not admission.takes_role:
            with connection.transaction():
                _check_role(connection, admission, owner[0], is_new=is_new)
        password = None
        if admission.ask_password is not None and (is_new or admission.resets_password):
            password = admission.ask_password()
        with connection.transaction():
            if is_new:
                _create_role(connection, admission.role)
            if password is not None:
                _set_password(connection, admission.role, password)
            connection.execute(_AS_OWNER.format(Identifier(owner[0])))
            connection.execute(
                "SELECT unified_state.admit(%s, %s, %s, %s)",
                [admission.role, admission.organisation, admission.member, admission.writes],
            )
            unbound = connection.execute(_UNBOUND, [admission.organisation]).fetchall()
    names = tuple(name for (name,) in unbound)
    return Admitted(admission.role, is_new, password is not None, names)


@contextmanager
def _administrating(server: Server) -> Iterator[None]:
    """Say what an administrator needs where a right is missing."""
    try:
        yield
    except InsufficientPrivilege as error:
        message = f"{server}: {server.scrubbed(error.diag.message_primary or str(error))}"
        raise StorageError(message, _MAY_NOT) from None


@contextmanager
def _connected(server: Server, database: str = "") -> Iterator[Connection[Any]]:
    parameters: dict[str, Any] = {**server.parameters, "dbname": database or server.parameters["dbname"]}
    with connect(**parameters, autocommit=True) as connection:
        connection.execute("SET client_min_messages = warning")
        yield connection


def _make_database(server: Server) -> str:
    """Create the database if there is none. Return what was done."""
    name = server.parameters["dbname"]
    try:
        with _connected(server):
            return f"{name!r} is there"
    except OperationalError as error:
        if f'database "{name}" does not exist' not in str(error):
            raise
    with _connected(server, _ELSEWHERE) as connection:
        connection.execute(SQL("CREATE DATABASE {} ENCODING 'UTF8' TEMPLATE template0").format(Identifier(name)))
    return f"{name!r} was created"


def _own(connection: Connection[Any], server: Server, owner: str) -> str:
    """Return the role that owns the schema, or will own it. It is the administrator himself unless he passes row
    security.
    """
    found = connection.execute(_SCHEMA_OWNER).fetchone()
    passes, own_name = own_role(connection)
    if found is not None:
        return str(found[0])
    if not passes:
        return own_name
    if _is_new(connection, server, owner):
        _create_role(connection, owner, "NOLOGIN")
    database = Identifier(server.parameters["dbname"])
    connection.execute(SQL("GRANT ALL ON DATABASE {} TO {}").format(database, Identifier(owner)))
    return owner


def _is_new(connection: Connection[Any], server: Server, role: str) -> bool:
    """Return whether there is no such role. Raises StorageError for one that row security does not bind."""
    found = connection.execute(_ROLE, [role]).fetchone()
    if found is not None and found[0]:
        message = f"{server}: the role {role!r} is a superuser, and bypasses row security"
        raise StorageError(message, "name an ordinary role")
    return found is None


def _check_role(connection: Connection[Any], admission: Admission, owner: str, *, is_new: bool) -> None:
    """Raise UsageError for a role that was not made for this member: of an application, or of another member.

    A role that does not exist may still be that of another organisation's member: whoever gets a role of that name
    reads as that member. Only who bypasses row security sees all organisations, so the owner lifts it for the question.
    """
    passes, _ = own_role(connection)
    if not passes:
        connection.execute(_AS_OWNER.format(Identifier(owner)))
        connection.execute(_LIFTED)
    bound = connection.execute(_BOUND, [admission.role]).fetchall()
    if not passes:
        connection.execute(_FORCED)
    if (admission.organisation, admission.member) in bound or (is_new and not bound):
        return
    whose = f"{admission.member!r} of {admission.organisation!r}"
    message = f"the role {admission.role!r} was not made for {whose}, who would be whoever logs in by it"
    other = f"{admission.member}_{admission.organisation}"
    raise UsageError(message, f"name another role, such as --role {other}, or let him in by this one: --existing-role")


def _create_role(connection: Connection[Any], name: str, login: str = "LOGIN") -> None:
    """Create a role without a password."""
    connection.execute(SQL("CREATE ROLE {} {}").format(Identifier(name), SQL(login)))


def _set_password(connection: Connection[Any], role: str, password: str) -> None:
    """Set a password by its SCRAM verifier, so that no statement and no log of the server holds the password."""
    verifier = connection.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256").decode()
    statement: Query = SQL("ALTER ROLE {} PASSWORD {}").format(Identifier(role), Literal(verifier))
    connection.execute(statement)


def _make_vectors(connection: Connection[Any]) -> tuple[str, str]:
    """Create the extension `vector` if the server has it. Return what there is, and how to get what is missing."""
    hint = how_to_get_vectors(connection)
    if hint is None:
        try:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        except (InsufficientPrivilege, FeatureNotSupported, UndefinedFile):
            hint = "a superuser runs in this database: CREATE EXTENSION vector"
    if hint is None:
        return "search by meaning works", ""
    return "search by meaning does not work, all else does", hint


def _told_schema(known: int, now: int) -> str:
    if known == now:
        return f"version {now} is there"
    return f"version {now} was created" if known == 0 else f"version {known} was migrated to {now}"
