"""The server in the user's own settings, and this repository's history on it.

Clones of one repository share a project there, named by their remote URL. A repository without a URL is named by its
own id. A repository's files decide neither.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping

from unified_state.agents.transcripts.rules.hosts import AGENT_VARIABLES
from unified_state.errors import NotFoundError, SettingError, UnifiedStateError
from unified_state.memory.history.store_protocol import HistoryStore
from unified_state.memory.repository.rejoin import remote_of
from unified_state.memory.repository.rules.project_name import shared_name
from unified_state.memory.workspace.workspace import Workspace
from unified_state.settings import Settings, user_file
from unified_state.team.local_server import EMBEDDED
from unified_state.team.postgres import check_extra
from unified_state.team.start_sync import own_environment
from unified_state.team.sync_server import Server

_READ_BY_OTHERS = stat.S_IRGRP | stat.S_IROTH


def team_server(
    workspace: Workspace,
    environ: Mapping[str, str],
    *,
    is_own: bool | None = None,
    own_only: bool = False,
    only_reads: bool = False,
) -> Server:
    """Return the server. Raises SettingError if none is configured, and NotFoundError if the repository has no name
    yet.

    `is_own` means that the environment is the user's. By default it is if no agent's client started this process.
    `own_only` leaves out the history of other members. What `only_reads` may be answered by a standby.
    """
    check_enabled(settings := workspace.settings)
    project = _project(workspace)
    organisation, member = settings.postgres_organisation, member_name(settings)
    trusts = is_own_environment(environ) if is_own is None else is_own

    def open_store() -> HistoryStore:
        from unified_state.team.postgres.postgres_store import open_postgres  # needs an extra

        return open_postgres(
            settings.postgres_dsn,
            project,
            organisation=organisation,
            member=member,
            environ=environ,
            trusts_environment=trusts,
            own_only=own_only,
            only_reads=only_reads,
        )

    who = f"{organisation}/{project} as {member}"
    name = f"{who} on {_place(settings.postgres_dsn, environ, trusts_environment=trusts)}"
    return Server(name, open_store, f"{organisation}/{project}", who)


def check_enabled(settings: Settings) -> None:
    """Raise SettingError if the user's settings name no server."""
    if not settings.postgres_enabled:
        message = "no server is configured"
        raise SettingError(message, f"set postgres_enabled and postgres_dsn in {user_file()}")


def _project(workspace: Workspace) -> str:
    """Return the name of the repository on the server. Raises NotFoundError if it has none yet."""
    project = shared_name(remote_of(workspace.place.repository)) or workspace.place.id
    if project is None:
        message = "nothing is archived here yet, and the repository has no `origin`"
        raise NotFoundError(message, "`unified-state install` begins")
    return project


def server_problem(settings: Settings, environ: Mapping[str, str]) -> UnifiedStateError | None:
    """Return the setting error that prevents a sync, or None if no server is configured or the settings are valid.

    It does not connect. A background sync sees less of the environment, and gets its own error.
    """
    if not settings.postgres_enabled:
        return None
    in_background = settings.sync_in_background
    environ = own_environment(environ) if in_background else environ
    try:
        member_name(settings)
        _place(settings.postgres_dsn, environ, trusts_environment=not in_background and is_own_environment(environ))
    except UnifiedStateError as error:
        return error
    return None


def exposed_settings(settings: Settings) -> str | None:
    """Return the user's settings file if the DSN there has a password that other users of the machine may read."""
    try:
        if not stat.S_IMODE(os.stat(user_file()).st_mode) & _READ_BY_OTHERS or os.name != "posix":
            return None
        from unified_state.team.postgres.server_dsn import has_password

        return user_file() if has_password(settings.postgres_dsn) else None
    except (ImportError, OSError, UnifiedStateError):
        return None  # `server_problem` tells of a DSN that cannot be used


def is_own_environment(environ: Mapping[str, str]) -> bool:
    """Return whether no agent's client started this process."""
    return not any(map(environ.get, AGENT_VARIABLES))


def _place(dsn: str, environ: Mapping[str, str], *, trusts_environment: bool) -> str:
    """Return the place of the server, without a password."""
    check_extra()
    if dsn.startswith(EMBEDDED):
        return dsn
    from unified_state.team.postgres.server_dsn import find_server

    return str(find_server(dsn, environ, trusts_environment=trusts_environment))


def member_name(settings: Settings) -> str:
    """Return the user's name on the server. Raises SettingError if there is none, as in some containers."""
    try:
        return settings.postgres_member or account_name()
    except (LookupError, OSError):
        message = "this account has no name, so nothing says who you are on the server"
        raise SettingError(message, f"set postgres_member in {user_file()}") from None


def account_name() -> str:
    """Return the user's account on this machine, independent of the environment.

    Raises LookupError or OSError if the account has no name.
    """
    try:
        from pwd import getpwuid
    except ImportError:  # Windows
        return os.getlogin()
    return getpwuid(os.getuid()).pw_name
