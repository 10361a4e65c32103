"""The server as its administrator sees it: which server is meant, and the checks of a member's settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote

from unified_state.errors import UnifiedStateError, UsageError
from unified_state.model.check import Check, bad
from unified_state.settings import Settings
from unified_state.team.local_server import EMBEDDED, start_embedded
from unified_state.team.postgres import check_extra
from unified_state.team.team_server import check_enabled, is_own_environment, member_name

if TYPE_CHECKING:
    from unified_state.team.postgres.server_dsn import Server

_LOCAL = "application_name=unified-state"  # nothing named: over this machine's socket, as the user of the system


def administered_server(dsn: str | None, settings: Settings, environ: Mapping[str, str]) -> Server:
    """Return the server of an argument, of the settings, or of this machine. Raises UsageError and
    MissingExtraError.
    """
    check_extra()
    from unified_state.team.postgres.server_dsn import find_server, has_password

    if dsn is not None and has_password(dsn):
        message = "a password in an argument is visible to every user of this machine"
        raise UsageError(message, "leave it out; $PGPASSWORD or ~/.pgpass gives it")
    found = _started(dsn or settings.postgres_dsn or _LOCAL)
    return find_server(found, environ, trusts_environment=is_own_environment(environ))


def check_own_server(settings: Settings, environ: Mapping[str, str]) -> Iterator[Check]:
    """Yield the checks of the server in the user's settings. An error of the settings is a check that failed."""
    try:
        server, member = _own_server(settings, environ)
    except UnifiedStateError as error:
        yield bad("settings", error.message, error.hint)
        return
    from unified_state.team.postgres.check_server import check_server

    yield from check_server(server, settings.postgres_organisation, member)


def share_earlier(settings: Settings, environ: Mapping[str, str], *, whether: bool) -> None:
    """Let colleagues find the items from before they could, or not any more. Raises UnifiedStateError."""
    server, member = _own_server(settings, environ)
    from unified_state.team.postgres.check_server import share_earlier_items

    share_earlier_items(server, settings.postgres_organisation, member, whether=whether)


def _own_server(settings: Settings, environ: Mapping[str, str]) -> tuple[Server, str]:
    """Return the server in the user's settings, and the user's name there."""
    check_enabled(settings)
    check_extra()
    from unified_state.team.postgres.server_dsn import find_server

    trusts = is_own_environment(environ)
    server = find_server(_started(settings.postgres_dsn), environ, trusts_environment=trusts)
    return server, member_name(settings)


def _started(dsn: str) -> str:
    """Return the DSN of a server that runs, after starting an embedded one."""
    return start_embedded(dsn.removeprefix(EMBEDDED)) if dsn.startswith(EMBEDDED) else dsn


def member_dsn(server: Server, role: str) -> str:
    """Return the DSN of a member, without a password. `HOST` stands where the administrator used a socket."""
    place = server.parameters
    host = place["host"] if place["host"] and not place["host"].startswith(("/", "@")) else "HOST"
    host = f"[{host}]" if ":" in host else host
    port = f":{place['port']}" if place["port"] else ""
    return f"postgresql://{quote(role, safe='')}@{host}{port}/{quote(place['dbname'], safe='')}"
