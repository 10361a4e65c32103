"""A network that can be cut: a Unix socket that leads to another one, until somebody cuts what goes through it."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self

SOCKET = ".s.PGSQL.5432"  # as libpq names it


class CuttingProxy:
    """`with CuttingProxy(folder) as proxy: …`; `proxy.folder` holds the socket that leads to the one in `folder`;
    it lies in the folder `beside`, or among temporary ones."""

    def __init__(self, target: str, beside: str | None = None) -> None:
        self._target = target
        self.folder = tempfile.mkdtemp(prefix="us-net-", dir=beside)
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self.is_silent = False
        """Whether new connections are taken and never answered."""
        self.turns = 0
        """How often what goes through it turned to the target: round trips, where there is one connection."""
        self._source: socket.socket | None = None

    def __enter__(self) -> Self:
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(os.path.join(self.folder, SOCKET))
        self._listener.listen(16)
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()
        shutil.rmtree(self.folder)

    def cut(self) -> int:
        """Cut every connection, in the middle of whatever it carries; how many there were."""
        with self._lock:
            cut, self._open = self._open, set()
        for end in cut:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        return len(cut) // 2

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                self._lead(near)

    def _lead(self, near: socket.socket) -> None:
        far = socket.socket(socket.AF_UNIX)
        with self._lock:
            self._open |= {near, far}
        if self.is_silent:
            return
        try:
            far.connect(self._target)
        except OSError:  # the server is down
            near.close()
            far.close()
            return
        for source, sink in ((near, far), (far, near)):
            threading.Thread(target=self._pump, args=(source, sink, source is near), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket, is_near: bool) -> None:
        with suppress(OSError):
            while piece := source.recv(1 << 16):
                with self._lock:
                    self.turns += is_near and self._source is not source
                    self._source = source
                sink.sendall(piece)
        with suppress(OSError):
            sink.shutdown(socket.SHUT_RDWR)
