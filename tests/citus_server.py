"""A Citus cluster for tests: a coordinator and workers, Debian's PostgreSQL 15 with the extension, on 127.0.0.1.

It runs where the extension is installed. Elsewhere its tests skip and say how to get it; with
UNIFIED_STATE_REQUIRE_CITUS=1, as in continuous integration where its source is there, that is a failure.
"""

from __future__ import annotations

import os
import re
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from filelock import FileLock
from psycopg.pq import TransactionStatus

from tests.postgres_server import OWNER, PostgresServer, run_folder, start_empty

_REQUIRED = "UNIFIED_STATE_REQUIRE_CITUS"
_PROGRAMS = Path("/usr/lib/postgresql/15/bin")
_CONTROL = Path("/usr/share/postgresql/15/extension/citus.control")
_HOW = (
    "Citus is not installed: get Debian's postgresql-15 and postgresql-server-dev-15, and build the tag v13.2.2 of "
    "github.com/citusdata/citus with ./configure --without-libcurl && make install-extension"
)
_CONF = """
shared_preload_libraries = 'citus'
citus.node_conninfo = 'sslmode=disable'
citus.shard_count = 8
wal_level = logical
max_prepared_transactions = 200
max_worker_processes = 64
"""
_NOTE_ROLES = """
INSERT INTO pg_catalog.pg_dist_object (classid, objid, objsubid)
SELECT 'pg_authid'::regclass, oid, 0 FROM pg_roles WHERE rolname !~ '^pg_' ON CONFLICT DO NOTHING
"""
_CLAIM = re.compile(r"SELECT set_config\((?:%s|'([^']*)'), (?:%s|'([^']*)'), false\)")
_COORDINATOR = "coordinator"
CITUS = "citus"


class CitusConnection(psycopg.Connection[Any]):
    """A connection of somebody who says who he is, by hand: Citus hands on only what is set within a transaction."""

    def execute(self, query: Any, params: Any = None, **others: Any) -> Any:
        claims: dict[str, str] = self.__dict__.setdefault("claims", {})
        found = _CLAIM.fullmatch(query) if isinstance(query, str) else None
        if found:
            claims[found[1] or params[0]] = found[2] or params[-1]
        if found or not claims or self.info.transaction_status != TransactionStatus.IDLE:
            return super().execute(query, params, **others)
        told = (f"SET LOCAL {name} TO '{value}'" for name, value in claims.items())
        with self.transaction():
            super().execute("; ".join(("SET LOCAL citus.propagate_set_commands TO 'local'", *told)))
            return super().execute(query, params, **others)


class CitusServer(PostgresServer):
    """A coordinator with its workers: each database and each role is on all of them."""

    refusals = (*PostgresServer.refusals, psycopg.errors.FeatureNotSupported)

    def __init__(self, folder: Path, database: str = "shared") -> None:
        super().__init__(folder / _COORDINATOR)
        self._database = database
        self.workers = [PostgresServer(path) for path in sorted(folder.glob("worker-*")) if (path / "port").exists()]

    @property
    def nodes(self) -> list[PostgresServer]:
        """All servers, the coordinator first."""
        return [PostgresServer(self.folder), *self.workers]

    def dsn(self, database: str = "shared", user: str = OWNER, **parameters: Any) -> str:
        return super().dsn(self._database if database == "shared" else database, user, **parameters)

    def connect(self, database: str = "shared", user: str = OWNER) -> psycopg.Connection[Any]:
        return CitusConnection.connect(self.dsn(database, user), autocommit=True)

    def database(self, name: str = "", *, has_vectors: bool = True, encoding: str = "UTF8") -> str:
        """Make an empty database with Citus; its name."""
        name = name or f"db_{uuid4().hex[:12]}"
        with self._alone():
            for node in self.nodes:
                node.database(name, has_vectors=False, encoding=encoding)
                with node.admin(name) as connection:
                    connection.execute("CREATE EXTENSION citus")
            with self.admin(name) as connection:
                connection.execute("SELECT citus_set_coordinator_host('127.0.0.1', %s)", [self.port])
                for worker in self.workers:
                    connection.execute("SELECT citus_add_node('127.0.0.1', %s)", [worker.port])
            self._note_roles(name)
        return name

    def role(self, password: str = "") -> str:
        """Make a role that may log in: Citus makes it on every node."""
        name = f"role_{uuid4().hex[:12]}"
        with self._alone():
            with self.admin("shared") as connection:
                connection.execute(f"CREATE ROLE {name} LOGIN" + (f" PASSWORD '{password}'" if password else ""))
            for database in self._databases():
                self._note_roles(database)
        return name

    def _alone(self) -> AbstractContextManager[object]:
        """Wait for other workers of the run: one would meet the half made database of another."""
        return FileLock(f"{self.folder.parent}.making")

    def _databases(self) -> list[str]:
        with self.admin("postgres") as connection:
            found = connection.execute("SELECT datname FROM pg_database WHERE datname ~ '^(db_|shared$)'").fetchall()
        return [name for (name,) in found]

    def _note_roles(self, database: str) -> None:
        """Let Citus know, in one database, the roles that it made from another: it notes them in each apart."""
        for node in self.nodes:
            with node.admin(database) as connection:
                connection.execute(_NOTE_ROLES)

    def add_worker(self) -> PostgresServer:
        """Start one more worker, which has the roles; no database knows it yet."""
        folder = self.folder.parent / f"worker-{len(self.workers) + 1}"
        worker = _start(folder)
        for name in self._databases():
            worker.database(name, has_vectors=False)
            with worker.admin(name) as connection:
                connection.execute("CREATE EXTENSION citus")
        self.workers.append(worker)
        return self.workers[-1]


def need_citus() -> None:
    """Skip, or fail, where Citus is not installed."""
    if not citus_programs().exists():
        (pytest.fail if os.environ.get(_REQUIRED) == "1" else pytest.skip)(_HOW)


def citus_programs() -> Path:
    """The programs of the PostgreSQL that has Citus; a folder that does not exist where none has."""
    return _PROGRAMS if _CONTROL.exists() else _CONTROL


def shared_citus() -> CitusServer:
    """The cluster of this run."""
    need_citus()
    folder = run_folder() / CITUS
    with FileLock(f"{folder}.lock"):
        if not (folder / "ready").exists():
            start_citus(folder)
            (folder / "ready").touch()
        name = f"db_{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}"  # grants wait for each other
        server = CitusServer(folder, name)
        with server.admin("postgres") as connection:
            known = connection.execute("SELECT FROM pg_database WHERE datname = %s", [name]).fetchall()
        if not known:
            server.database(name)
    return server


def start_citus(folder: Path, workers: int = 2) -> CitusServer:
    """Start a cluster in a folder, with the database that tests share."""
    folder.mkdir(mode=0o755, exist_ok=True)
    for name in (_COORDINATOR, *(f"worker-{number}" for number in range(1, workers + 1))):
        _start(folder / name)
    made = CitusServer(folder)
    made.database("shared")
    return made


def _start(data: Path) -> PostgresServer:
    node = start_empty(data, _PROGRAMS, _CONF)
    with node.admin() as connection:
        connection.execute(f"CREATE ROLE {OWNER} LOGIN; CREATE ROLE with_password")
    return node
