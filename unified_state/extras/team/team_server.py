"""The server in the user's own settings, this repository's name there, and whether its history may go there.

Nothing goes up before the user agreed to it in this repository. What he agreed to is noted in the archive: which
server, by its own id, and under which name. Clones of one repository share a name, that of their remote URL. A
repository's files decide none of this.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote

from unified_state.archive.archive import Archive
from unified_state.errors import NotFoundError, SettingError, StorageError, UnifiedStateError, UsageError
from unified_state.extras.team.postgres import check_extra
from unified_state.extras.team.project_name import shared_name
from unified_state.extras.team.start_sync import CONSENT, own_environment
from unified_state.hosts.transcripts.rules.hosts import AGENT_VARIABLES
from unified_state.lib.json_text import dump_json, parse_json
from unified_state.lib.record import Record
from unified_state.model.check import Check, bad, good
from unified_state.project.identity import remote_of
from unified_state.project.workspace.workspace import Workspace
from unified_state.settings import Settings, user_file

if TYPE_CHECKING:
    from unified_state.extras.team.postgres.record_store import TeamStore
    from unified_state.extras.team.postgres.server_dsn import Server

_READ_BY_OTHERS = stat.S_IRGRP | stat.S_IROTH
_ON = "`unified-state server sync --on` asks you once, and says who will read it"
_LOCAL = "application_name=unified-state"  # nothing named: over this machine's socket, as the user of the system


class Consent(Record):
    """What the user agreed to: the server's own id, the project's name there, and who he is there."""

    identity: str
    project: str
    who: str

    @property
    def name(self) -> str:
        """What tells the server apart in the outbox, under whichever address."""
        return f"{self.who} on server {self.identity[:8]}"

    def check(self, store: TeamStore) -> None:
        """Raise UsageError for a store on another server than the user agreed to, or as somebody else."""
        if self.identity != store.identity or self.who != who_is(store):
            message = f"{store.server} is not where you let this project's history go: {self.name}"
            raise UsageError(message, _ON)


class TeamServer(Record):
    """Where this repository's history is on a server, which was not asked anything yet."""

    server: Server
    organisation: str
    project: str

    def open(self, *, begins: bool = False) -> TeamStore:
        """Connect. `begins` makes the project if there is none. Raises StorageError and NewerVersionError."""
        from unified_state.extras.team.postgres.record_store import TeamStore  # needs an extra

        return TeamStore(self.server, self.organisation, self.project, begins=begins)


def team_server(
    workspace: Workspace, environ: Mapping[str, str], *, is_own: bool | None = None, only_reads: bool = False
) -> TeamServer:
    """Return the server. Raises SettingError if none is configured, and NotFoundError if the repository has no name.

    `is_own` means that the environment is the user's. By default it is if no agent's client started this process.
    What `only_reads` may be answered by a standby.
    """
    server = _configured(workspace.settings, environ, is_own=is_own, only_reads=only_reads)
    agreed = None if workspace.is_empty else workspace.use(consent)
    project = agreed.project if agreed else shared_name(remote_of(workspace.place.repository)) or workspace.place.id
    if project is None:
        message = "nothing is archived here yet, and the repository has no `origin`"
        raise NotFoundError(message, "`unified-state install` begins")
    return TeamServer(server, workspace.settings.postgres_organisation, project)


def consent(archive: Archive) -> Consent | None:
    """Return what the user agreed to in this repository, or None."""
    told = archive.meta(CONSENT)
    return Consent(**parse_json(told)) if told else None


def who_is(store: TeamStore) -> str:
    """Return the organisation, the project and the user's name there."""
    return f"{store.organisation}/{store.project} as {store.member}"


def agree(archive: Archive, store: TeamStore) -> None:
    """Note that the user agreed that this history goes to the server."""
    agreed = Consent(store.identity, store.project, who_is(store))
    archive.set_meta(CONSENT, dump_json(agreed.as_dict()))


def disagree(archive: Archive) -> bool:
    """Note that nothing goes up any more. Return whether anything did."""
    return archive.run("DELETE FROM meta WHERE name = ?", CONSENT) > 0


def agreed_to(workspace: Workspace) -> Consent:
    """Return what the user agreed to. Raises UsageError if that is nothing."""
    agreed = None if workspace.is_empty else workspace.use(consent)
    if agreed is None:
        message = "nothing of this project goes to a server yet"
        raise UsageError(message, _ON)
    return agreed


def administered_server(dsn: str | None, environ: Mapping[str, str]) -> Server:
    """Return the server of an argument, or of this machine: the settings name a member, who may administer nothing.

    Raises UsageError and MissingExtraError.
    """
    check_extra()
    from unified_state.extras.team.postgres.server_dsn import find_server, has_password

    if dsn is not None and has_password(dsn):
        message = "a password in an argument is visible to every user of this machine"
        raise UsageError(message, "leave it out; $PGPASSWORD or ~/.pgpass gives it")
    return find_server(dsn or _LOCAL, environ, trusts_environment=is_own_environment(environ))


def member_dsn(server: Server, role: str) -> str:
    """Return the DSN of a member, without a password. `HOST` stands where the administrator used a socket."""
    place = server.parameters
    host = place["host"] if place["host"] and not place["host"].startswith(("/", "@")) else "HOST"
    host = f"[{host}]" if ":" in host else host
    port = f":{place['port']}" if place["port"] else ""
    return f"postgresql://{quote(role, safe='')}@{host}{port}/{quote(place['dbname'], safe='')}"


def check_own_server(settings: Settings, environ: Mapping[str, str]) -> Iterator[Check]:
    """Yield what works on the server in the user's settings. An error is a check that failed."""
    try:
        team = TeamServer(_configured(settings, environ), settings.postgres_organisation, "")
        with team.open() as store:
            yield good("server", f"{store.server}")
            yield good("member", f"you are {store.member!r} of {store.organisation!r}")
    except StorageError as error:
        yield bad("server", error.message, error.hint)
    except UnifiedStateError as error:
        yield bad("settings", error.message, error.hint)


def _configured(
    settings: Settings, environ: Mapping[str, str], *, is_own: bool | None = None, only_reads: bool = False
) -> Server:
    if not settings.postgres_enabled:
        message = "no server is configured"
        raise SettingError(message, f"set postgres_enabled and postgres_dsn in {user_file()}")
    check_extra()
    from unified_state.extras.team.postgres.server_dsn import find_server

    trusts = is_own_environment(environ) if is_own is None else is_own
    return find_server(settings.postgres_dsn, environ, trusts_environment=trusts, only_reads=only_reads)


def server_problem(settings: Settings, environ: Mapping[str, str]) -> UnifiedStateError | None:
    """Return the setting error that prevents a sync, or None if no server is configured or the settings are valid.

    It does not connect. A background sync sees less of the environment, and gets its own error.
    """
    if not settings.postgres_enabled:
        return None
    in_background = settings.sync_in_background
    environ = own_environment(environ) if in_background else environ
    try:
        _configured(settings, environ, is_own=False if in_background else None)
    except UnifiedStateError as error:
        return error
    return None


def exposed_settings(settings: Settings) -> str | None:
    """Return the user's settings file if the DSN there has a password that other users of the machine may read."""
    try:
        if not stat.S_IMODE(os.stat(user_file()).st_mode) & _READ_BY_OTHERS or os.name != "posix":
            return None
        from unified_state.extras.team.postgres.server_dsn import has_password

        return user_file() if has_password(settings.postgres_dsn) else None
    except (ImportError, OSError, UnifiedStateError):
        return None  # `server_problem` tells of a DSN that cannot be used


def is_own_environment(environ: Mapping[str, str]) -> bool:
    """Return whether no agent's client started this process."""
    return not any(map(environ.get, AGENT_VARIABLES))
