"""What an error of PostgreSQL means for the user: one line, with what to do, and no secret."""

from __future__ import annotations

from psycopg import Error, OperationalError
from psycopg_pool import PoolTimeout

from unified_state.errors import StorageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from unified_state.team.postgres.server_dsn import Server

_DAMAGED = "its owner mends an index with REINDEX SCHEMA unified_state, a table from a backup; nothing is lost"
_HINTS = {
    "28P01": "check the password: in postgres_dsn, in $PGPASSWORD or in ~/.pgpass",
    "28000": "check the user in postgres_dsn, and the server's pg_hba.conf",
    "3D000": "an administrator creates it: CREATE DATABASE …",
    "42501": "an administrator grants what is missing; see docs/how-to/run-a-team-server.md",
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
_UNREACHABLE = "check postgres_dsn, and that the server runs; nothing is lost"
# Before a connection stands libpq gives no code, only a message: the server's, or its own.
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


class failures:  # noqa: N801  # read as a statement: `with failures(server): …`
    """`with failures(server): …` turns errors of PostgreSQL into ours, without the cause, which may hold a secret."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, _type: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if isinstance(error, Error):
            raise storage_error(error, self._server) from None


def storage_error(error: Error, server: Server) -> StorageError:
    """The error of ours for one of PostgreSQL's."""
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
