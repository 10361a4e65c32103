"""A Citus cluster of one's own in a temporary folder, whose nodes can be restarted; it ends with its `with`."""

from __future__ import annotations

import itertools
import os
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.citus_server import CitusServer, start_citus
from tests.postgres_server import OWNER, end_server, start_again, stop_server


class LocalCitus:
    """`with LocalCitus() as server: …`, as `LocalPostgres`."""

    def __enter__(self) -> Self:
        self._home = Path(tempfile.mkdtemp(prefix="c-"))  # short: the path of a socket has at most 107 characters
        self._home.chmod(0o755)  # as root the server is another user's
        self._cluster: CitusServer = start_citus(self._home / "n")
        self._turns = itertools.cycle(self._cluster.nodes)
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        end_server(self._home / "n")
        end_server(self._home)

    @property
    def socket(self) -> str:
        """Where its coordinator listens."""
        return os.path.join(self._cluster.folder, f".s.PGSQL.{self._cluster.port}")

    def dsn(self, folder: str | None = None) -> str:
        """How to reach it: by its own socket, or by one in another folder that leads to it."""
        place = f"host={folder}" if folder else f"host={self._cluster.folder} port={self._cluster.port}"
        return f"{place} user={OWNER} dbname=shared"

    def restart(self) -> None:
        """Restart the next node as after a crash."""
        node = next(self._turns)
        stop_server(node.folder)
        start_again(node.folder)
