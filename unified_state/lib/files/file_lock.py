"""A lock between processes on a sidecar file, held while something beside it is read, changed and written.

The lock is on a sidecar because the file itself is replaced, and a lock would stay on the old one. On POSIX this is
`flock`, the same call on the same file as filelock makes, without the 40 ms that importing filelock takes; elsewhere it
is filelock. The kernel frees the lock when its holder dies.
"""

from __future__ import annotations

import os
import time

from unified_state.errors import StorageError, UnifiedStateError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

try:
    from fcntl import LOCK_EX, LOCK_NB, flock

    _HAS_FLOCK = True
except ImportError:  # Windows
    _HAS_FLOCK = False

_PAUSE = 0.005  # seconds between two tries; a holder needs about a millisecond


class FileLock:
    """`with FileLock(path, seconds): …`; raises StorageError when the lock does not come free in time, or what `busy`
    says of its holder.
    """

    def __init__(self, path: str, seconds: float, busy: UnifiedStateError | None = None) -> None:
        self._path = path
        self._seconds = seconds
        self._busy = busy
        self._held: Any = None

    def __enter__(self) -> None:
        os.makedirs(os.path.dirname(self._path) or ".", exist_ok=True)
        try:
            self._held = self._flock() if _HAS_FLOCK else self._filelock()
        except TimeoutError as error:
            if self._busy is not None:
                raise self._busy from error
            message = f"{self._path} stayed locked by another process for {self._seconds:g} seconds"
            raise StorageError(message, "try again, or look for a process that hangs") from error
        except OSError as error:
            message = f"{self._path} cannot be locked: {error.strerror or error}"
            raise StorageError(
                message, "check the permissions of the folder and whether its file system knows locks"
            ) from error

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if isinstance(self._held, int):
            os.close(self._held)
        elif self._held is not None:
            self._held.release()
        self._held = None

    def _flock(self) -> int:
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        deadline = time.monotonic() + self._seconds
        while True:
            try:
                flock(descriptor, LOCK_EX | LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    os.close(descriptor)
                    raise TimeoutError from None
                time.sleep(_PAUSE)
            except OSError:
                os.close(descriptor)
                raise
            else:
                return descriptor

    def _filelock(self) -> Any:
        import filelock

        lock = filelock.FileLock(self._path, timeout=self._seconds, mode=0o600)
        try:
            lock.acquire()
        except filelock.Timeout as error:
            raise TimeoutError from error
        return lock
