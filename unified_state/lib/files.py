"""Files: written atomically, and locked between processes.

A reader of a file written here sees the old content or the new, never a part, even after a crash.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable
from stat import S_ISREG
from typing import Any

from unified_state.errors import StorageError, UnifiedStateError

PRIVATE, _GROUP = 0o600, 0o070
_FOLDING = ("darwin", "win32")  # platforms whose file systems usually fold case
_LEFT_BEHIND = 3_600_000  # milliseconds without a write after which a file counts as left by a killed process
UNFINISHED = ".tmp"  # suffix of files that are still being written


def write_atomically(
    path: str, content: bytes | Iterable[bytes], mode: int | None = None, *, last_look: Callable[[], bool] | None = None
) -> bool:
    """Write through a temporary file in the same folder: create, write, fsync, replace, fsync the folder.

    A long content comes in pieces. The file keeps its permissions and its group. A new one is private unless `mode`
    says otherwise. `last_look` is called right before the old file is replaced; if it returns False, the old file
    stays. Return whether it was replaced. Raises StorageError and leaves the old file unchanged if the new one cannot
    be written.
    """
    folder, temporary = os.path.dirname(path) or ".", temporary_name(path)
    try:
        os.makedirs(folder, exist_ok=True)
        known = _known(path) if mode is None else None
        _create(temporary, content, PRIVATE if mode is None else mode, to_disk=True, known=known)
        is_replaced = last_look is None or last_look()
        if is_replaced:
            os.replace(temporary, path)
        sync_folder(folder)
    except OSError as error:
        raise _write_error(path, error) from error
    finally:
        remove_file(temporary)
    return is_replaced


def write_note(path: str, content: bytes) -> None:
    """Write a small private file atomically, without fsync: for a cache that can be computed again.

    Its folder must exist. Raises StorageError.
    """
    temporary = temporary_name(path)
    try:
        _create(temporary, content)
        os.replace(temporary, path)
    except OSError as error:
        raise _write_error(path, error) from error
    finally:
        remove_file(temporary)


def create_once(path: str, content: bytes) -> bool:
    """Create a private file atomically, and return False if it exists. Of several processes exactly one creates it."""
    temporary = temporary_name(path)
    try:
        _create(temporary, content)
        return publish_once(temporary, path)
    finally:
        remove_file(temporary)


def publish_once(temporary: str, path: str) -> bool:
    """Give a finished file its name, and return False if that is taken. The temporary name is left to the caller."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links
        if os.path.lexists(path):
            return False
        os.rename(temporary, path)
    return True


def set_aside(path: str) -> str:
    """Give the file or folder at a path a second name, and return that name.

    A file also keeps its own name until it is replaced. Raises OSError.
    """
    stem, ending = os.path.splitext(path)
    number = 1
    while os.path.lexists(aside := f"{stem}.damaged-{number}{ending}"):
        number += 1
    try:
        os.link(path, aside)
    except OSError:  # a folder, or a file system without hard links
        os.rename(path, aside)
    return aside


def temporary_name(path: str) -> str:
    """Return a name beside the file that no other process uses."""
    return f"{path}.{os.getpid()}.{os.urandom(4).hex()}{UNFINISHED}"


def remove_leftovers(path: str) -> None:
    """Remove the unfinished files that killed processes left beside a file. Call it under the lock of its writers."""
    folder, name = os.path.split(path)
    with os.scandir(folder) as entries:
        left = [entry.path for entry in entries if entry.name.startswith(f"{name}.")]
    for leftover in left:
        if leftover.endswith(UNFINISHED):
            remove_file(leftover)


def old_leftovers(folder: str, now: int) -> list[str]:
    """Return what processes left that were killed an hour ago or earlier, in a folder of ours and in those below it."""
    named = (os.path.join(below, name) for below, _, names in os.walk(folder) for name in names if UNFINISHED in name)
    return [path for path in named if is_left_behind(path, now)]


def is_left_behind(path: str, now: int) -> bool:
    """Return whether nobody has written a file for an hour."""
    return os.path.exists(path) and os.stat(path).st_mtime * 1000 < now - _LEFT_BEHIND


def remove_old_leftovers(folder: str, now: int) -> None:
    """Remove those files."""
    for path in old_leftovers(folder, now):
        remove_file(path)


def remove_file(path: str) -> None:
    """Remove a file that is still there."""
    try:
        os.unlink(path)
    except OSError:
        return  # another process has removed it, or the folder is read-only


def _create(
    path: str,
    content: bytes | Iterable[bytes],
    mode: int = PRIVATE,
    *,
    to_disk: bool = False,
    known: os.stat_result | None = None,
) -> None:
    """Create a new file. It gets the permissions of the `known` file."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with open(descriptor, "wb") as file:
        if known is not None and hasattr(os, "fchmod"):  # not on Windows
            _take_over(descriptor, known)
        file.writelines([content] if isinstance(content, bytes) else content)
        if to_disk:
            file.flush()
            os.fsync(descriptor)


def _write_error(path: str, error: OSError) -> StorageError:
    message = f"{path} cannot be written: {error.strerror or error}"
    return StorageError(message, "free some space or check the permissions of the folder")


def _take_over(descriptor: int, known: os.stat_result) -> None:
    """Give a new file the group and the mode of a known one, whatever the umask is."""
    mode = known.st_mode & 0o777
    if os.fstat(descriptor).st_gid != known.st_gid:
        try:
            os.fchown(descriptor, -1, known.st_gid)
        except OSError:
            mode &= ~_GROUP  # another group than the one that these permissions were for
    os.fchmod(descriptor, mode)


def _known(path: str) -> os.stat_result | None:
    """Return the state of a regular file, or None. The target of a link says nothing about a file in its place."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found if S_ISREG(found.st_mode) else None


def lies_in(path: str, folder: str) -> bool:
    """Return whether an absolute path is a folder or below it, as the platform's rules say: drives on Windows, and
    letters whose case does not count there and on macOS.
    """
    below, top = (os.path.normcase(os.path.normpath(one)) for one in (path, folder))
    if sys.platform in _FOLDING:
        below, top = below.casefold(), top.casefold()
    return below == top or below.startswith(os.path.join(top, ""))


def sync_folder(folder: str) -> None:
    """Make the names in a folder durable. On Windows folders cannot be opened, and the file system does it."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


try:
    from fcntl import LOCK_EX, LOCK_NB, flock

    _HAS_FLOCK = True
except ImportError:  # Windows
    _HAS_FLOCK = False

_PAUSE = 0.005  # seconds between two tries; a lock is usually held for a millisecond


class FileLock:
    """A lock between processes on a sidecar file: `with FileLock(path, seconds): …`.

    On a timeout it raises `busy`, or StorageError if that is None. The Python API locks with filelock, and so does
    every process without `flock`. Both lock the same files for each other.
    """

    uses_filelock = not _HAS_FLOCK

    def __init__(self, path: str, seconds: float, busy: UnifiedStateError | None = None) -> None:
        self._path = path
        self._seconds = seconds
        self._busy = busy
        self._held: Any = None

    def __enter__(self) -> None:
        try:
            try:
                self._held = self._lock()
            except FileNotFoundError:
                os.makedirs(os.path.dirname(self._path) or ".", exist_ok=True)
                self._held = self._lock()
        except TimeoutError as error:
            if self._busy is not None:
                raise self._busy from error
            message = f"{self._path} stayed locked by another process for {self._seconds:g} seconds"
            raise StorageError(message, "try again, or look for a process that hangs") from error
        except OSError as error:
            message = f"{self._path} cannot be locked: {error.strerror or error}"
            hint = "check the permissions of the folder and whether its file system knows locks"
            raise StorageError(message, hint) from error

    def __exit__(self, *_error: object) -> None:
        if isinstance(self._held, int):
            os.close(self._held)
        elif self._held is not None:
            self._held.release()
        self._held = None

    def _lock(self) -> Any:
        return self._filelock() if self.uses_filelock else self._flock()

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


_MOST_FILES = 50


def session_file(folder: str, kind: str, session_id: str) -> str:
    """Return the path of a session's small file. An id with other characters is replaced by its checksum."""
    from zlib import crc32  # a shared library, which most hooks do without

    plain = session_id.replace("-", "").replace("_", "")
    is_plain = plain.isascii() and plain.isalnum() and len(session_id) <= 100  # noqa: PLR2004  # what file systems take
    name = session_id if is_plain else f"{crc32(session_id.encode('utf-8', 'replace')):08x}"
    return os.path.join(folder, kind, f"{name}.json")


def write_session_file(path: str, content: str, *, append: bool = False) -> None:
    """Write the file of a session, or append lines to it, with one write and without fsync, and remove files of old
    sessions. Readers ignore a partial file. Raises OSError.
    """
    if not os.path.exists(path):
        make_room(os.path.dirname(path))
    kind = (os.O_APPEND if append else os.O_TRUNC) | getattr(os, "O_NONBLOCK", 0)  # a named pipe in the way is an error
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | kind, PRIVATE)
    try:
        os.write(descriptor, content.encode())
    finally:
        os.close(descriptor)


def append_whole(path: str, content: bytes) -> None:
    """Append lines to a private file, durably. Raises OSError, and leaves the file as it was.

    A last line without its end gets one.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, PRIVATE)
    try:
        size = os.lseek(descriptor, 0, os.SEEK_END)
        os.lseek(descriptor, max(0, size - 1), os.SEEK_SET)
        is_open = size > 0 and os.read(descriptor, 1) != b"\n"
        left = memoryview(b"\n" + content if is_open else content)
        try:
            while left:
                left = left[os.write(descriptor, left) :]
            os.fsync(descriptor)
        except BaseException:
            os.ftruncate(descriptor, size)
            raise
        if not size:
            sync_folder(os.path.dirname(path))
    finally:
        os.close(descriptor)


def make_room(folder: str) -> None:
    """Make a folder of sessions' files, or remove the oldest of them."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    with os.scandir(folder) as found:
        files = sorted(found, key=lambda file: file.stat().st_mtime)
    for file in files[: max(0, len(files) - _MOST_FILES + 1)]:
        os.unlink(file.path)


def remove_if_empty(folder: str) -> bool:
    """Remove a folder if it is empty, and return whether it was removed."""
    try:
        os.rmdir(folder)
    except OSError:
        return False  # it is not empty, or no folder
    return True
