"""The server's address and connection parameters: the user's DSN, completed from the environment.

Only the user decides where history is sent. libpq would complete a DSN from any `PG*` variable, and a repository's
settings can set variables for the client's programs. So every parameter that could change the target is set here. A
host comes from the environment only if the DSN names none and the environment is the user's. No message shows a
password.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from unified_state.errors import SettingError
from unified_state.lib.record import Record

_LOCAL = {"localhost", "127.0.0.1", "::1"}
_PLACES = {"host": "HOST", "port": "PORT", "dbname": "DATABASE"}
_ACCOUNTS = {"user": "USER", "password": "PASSWORD"}
_SECRET = ("password", "sslpassword", "sslkey", "passfile", "oauth_client_secret")
_SHORT = 4  # characters; a shorter secret occurs in other words by chance
_URI = re.compile(r"postgres(?:ql)?://([^/?]*)([^?]*)")
_PORTS = re.compile(r"[0-9, ]*")
_STRICT = ("require", "verify-ca", "verify-full")
# Includes the parameters that libpq would take from the environment. A server that disappears is noticed after a
# minute.
_DEFAULTS = {
    **dict.fromkeys(("host", "hostaddr", "port", "user", "options", "sslrootcert"), ""),
    "dbname": "unified_state",
    "application_name": "unified-state",
    "connect_timeout": "10",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "60000",
}


class Server(Record):
    """A server: all parameters of libpq, including those that it would take from the environment."""

    parameters: dict[str, str]

    def __repr__(self) -> str:
        return f"Server({self})"

    def __str__(self) -> str:
        """Return its place as messages name it."""
        host = self.parameters["host"] or "the local socket"
        port = self.parameters["port"]
        return f"database {self.parameters['dbname']!r} at {host}{f', port {port}' if port else ''}"

    def scrubbed(self, text: str) -> str:
        """Return a text on one line, without the secrets of this server."""
        secrets = {self.parameters[name] for name in _SECRET if self.parameters.get(name)}
        for secret in sorted(secrets, key=len, reverse=True):  # one secret may contain another
            found = re.escape(secret)
            text = re.sub(rf"(?<!\w){found}(?!\w)" if len(secret) < _SHORT else found, "***", text)
        return " ".join(text.split())


def find_server(dsn: str, environ: Mapping[str, str], *, trusts_environment: bool, only_reads: bool = False) -> Server:
    """Return the server of a DSN. Raises SettingError.

    `trusts_environment` means that the environment is the user's, and not that of a program which an agent's client
    started. Of several hosts the primary is chosen, or a standby if there is one and nothing is written (`only_reads`).
    """
    given = _parse(dsn)
    if not any(map(environ.get, ("PGHOST", "RUVECTOR_HOST"))) and not given:
        message = "postgres_dsn names no server"
        raise SettingError(message, "write postgresql://USER@HOST/DATABASE there, in your own settings file")
    if "service" in given:
        message = "postgres_dsn names a service, and the environment could say which file that is looked up in"
        raise SettingError(message, "write its host, port, dbname and user there")
    account = _from_environment(environ, _ACCOUNTS)
    if "host" not in given and "hostaddr" not in given:
        place = _from_environment(environ, _PLACES)
        if "host" in place and not trusts_environment:
            message = (
                "postgres_dsn names no host, and the environment of an agent's client may not say where history goes"
            )
            raise SettingError(message, "name the host in postgres_dsn, in your own settings file")
        given = {**place, **given}
    parameters = {**_DEFAULTS, **account, **given, "client_encoding": "UTF8"}
    _check_place(parameters)
    has_several = "," in parameters["host"] or "," in parameters["hostaddr"]
    attributes = ("prefer-standby" if only_reads else "read-write") if has_several else "any"
    parameters.setdefault("target_session_attrs", attributes)
    parameters.setdefault("sslmode", _ssl_mode(parameters, environ))
    return Server({name: value for name, value in parameters.items() if name != "user" or value})


def has_password(dsn: str) -> bool:
    """Return whether a DSN contains a password. Raises SettingError."""
    return any(name in _parse(dsn) for name in ("password", "sslpassword"))


def _parse(dsn: str) -> dict[str, str]:
    if (uri := _URI.match(dsn)) and (uri[1].count("@") > 1 or "@" in uri[2]):
        # libpq parses text after the first one, or before it, as a host, a port or a database, and shows those names.
        message = "postgres_dsn is not a connection string"
        raise SettingError(message, "the password in it has a sign that has to be written as %40 (@) or %2F (/)")
    try:
        return {name: str(value) for name, value in conninfo_to_dict(dsn).items() if value is not None}
    except ProgrammingError:
        pass  # its message quotes the DSN with its password
    message = "postgres_dsn is not a connection string"
    raise SettingError(message, "write postgresql://USER@HOST/DATABASE, or host=… dbname=… user=…")


def _check_place(parameters: Mapping[str, str]) -> None:
    """Raise SettingError for an invalid host or port. The message does not quote it, because it may be part of a
    password.
    """
    if _PORTS.fullmatch(parameters["port"]) and all(map(_can_be_host, parameters["host"].split(","))):
        return
    message = "postgres_dsn is not a connection string: what stands for the host or the port in it can be neither"
    raise SettingError(message, "if that is of the password, write its signs as %40 (@), %2F (/) or %3A (:)")


def _can_be_host(host: str) -> bool:
    """Return whether a text is the folder of a socket, an abstract socket, or possibly a name or an address."""
    return host.startswith("/") or not re.search(r"[@/\s]", host.removeprefix("@"))


def _from_environment(environ: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    """Return the values of PostgreSQL's variables, or else of RuVector's."""
    found = {}
    for name, variable in names.items():
        value = environ.get(f"PG{variable}") or environ.get(f"RUVECTOR_{variable}")
        if value:
            found[name] = value
    return found


def _ssl_mode(parameters: Mapping[str, str], environ: Mapping[str, str]) -> str:
    """Return the SSL mode, which requires TLS for every server on another machine. The environment can only require
    more.
    """
    wanted = environ.get("PGSSLMODE", "")
    if wanted in _STRICT:
        return wanted
    is_local = all(host.startswith(("/", "@")) or host in _LOCAL | {""} for host in parameters["host"].split(","))
    asks = environ.get("RUVECTOR_SSL", "").lower() in {"1", "true", "yes", "on"}
    return "prefer" if is_local and not asks and not parameters.get("hostaddr") else "require"
