"""Opening the server's store from the user's settings."""

from __future__ import annotations

from unified_state.errors import MissingExtraError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from unified_state.team.postgres.postgres_store import PostgresStore


def open_postgres(
    dsn: str,
    project: str,
    *,
    organisation: str,
    member: str,
    environ: Mapping[str, str] | None = None,
    trusts_environment: bool = False,
    own_only: bool = False,
) -> PostgresStore:
    """The store of a project on the server of a DSN; with `own_only` nothing of other members is read. Raises
    MissingExtraError, SettingError, StorageError, NewerVersionError; their texts hold no password.
    """
    try:
        import psycopg_pool  # noqa: F401  # the extra's last module
    except ImportError:
        message = "history on PostgreSQL needs the extra `postgres`"
        raise MissingExtraError(message, "pip install 'unified-state[postgres]'") from None
    from unified_state.team.postgres.local_server import EMBEDDED, start_embedded
    from unified_state.team.postgres.postgres_store import PostgresStore
    from unified_state.team.postgres.server_dsn import find_server
    from unified_state.team.postgres.tenancy import Asker

    if dsn.startswith(EMBEDDED):
        dsn = start_embedded(dsn.removeprefix(EMBEDDED))
    server = find_server(dsn, environ or {}, trusts_environment=trusts_environment)
    return PostgresStore(server, Asker(organisation, project, member), own_only=own_only)
