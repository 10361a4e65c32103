"""Debian's PgBouncer in transaction mode before a server of the tests, on 127.0.0.1."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from tests.passwd import SERVERS_USER, mounted_passwd
from tests.postgres_server import PostgresServer

_PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
_REQUIRED = "UNIFIED_STATE_REQUIRE_OLDER_SERVERS"
_CONF = """
[databases]
* = host={host} port={port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {own}
unix_socket_dir =
auth_type = trust
auth_file = {folder}/users
pool_mode = transaction
default_pool_size = {size}
max_client_conn = 2000
"""


def need_pgbouncer() -> None:
    """Skip, or fail, where it is not installed."""
    if _PROGRAM is None:
        reason = "there is no PgBouncer; apt-get install pgbouncer"
        (pytest.fail if os.environ.get(_REQUIRED) == "1" else pytest.skip)(reason)


@contextmanager
def pooling(server: PostgresServer, users: list[str], size: int) -> Iterator[dict[str, Any]]:
    """Yield how to reach a server through a pool of so many connections."""
    mounted_passwd()  # it has the user
    folder = server.folder.parent / f"bouncer-{os.getpid()}"
    folder.mkdir(mode=0o755, exist_ok=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        own = free.getsockname()[1]
    (folder / "users").write_text("".join(f'"{user}" ""\n' for user in users))
    (folder / "conf").write_text(_CONF.format(host=server.folder, port=server.port, own=own, folder=folder, size=size))
    user = SERVERS_USER if os.geteuid() == 0 else None
    with subprocess.Popen([str(_PROGRAM), str(folder / "conf")], user=user, stderr=subprocess.DEVNULL) as process:
        for _ in range(100):
            with suppress(OSError), socket.create_connection(("127.0.0.1", own)):
                break
            time.sleep(0.05)
        try:
            yield {"host": "127.0.0.1", "port": own}
        finally:
            process.terminate()
