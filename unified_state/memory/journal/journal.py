"""The journal: a history as lines of JSON, to which each commit appends its lines.

A commit ends with a commit line. Lines after the last commit line, left by a killed process or a full disk, were never
acknowledged: readers skip them, and the next commit removes them. Readers also skip a damaged line, but no other line.

The lock file is beside the folder, since the folder may be renamed while the lock is held.
"""

from __future__ import annotations

import os

from unified_state.errors import ArchiveUnavailableError, StorageError
from unified_state.lib.files import PRIVATE, FileLock, sync_folder, temporary_name
from unified_state.lib.stdlib import dump_json, open_regular, parse_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, Self

HISTORY, EVENTS = "history.jsonl", "events.jsonl"
_COMMIT = "commit"
_SURROGATES = "surrogatepass"
_LONGEST_LINE = 1 << 28  # bytes; no step is as long
_LINES_OF_A_COMMIT = 1000  # of a journal that is rewritten


class Journal:
    """The journal of one folder. `with journal: …` holds its lock and may be nested; `seconds` limits the wait for it.
    After `commits()`, `end` is the end of the last commit and `damaged` the number of unreadable lines.
    """

    def __init__(self, folder: str, seconds: float, name: str = HISTORY) -> None:
        self.folder = folder
        self.path = os.path.join(folder, name)
        message = f"the journal {self.path} is locked by another process"
        busy = ArchiveUnavailableError(message, "another process writes for a long time; try again")
        self._lock = FileLock(f"{folder}.lock", seconds, busy)
        self._depth = 0
        self.end = 0
        self.damaged = 0

    def __enter__(self) -> Self:
        if self._depth == 0:
            try:
                os.makedirs(self.folder, mode=0o700, exist_ok=True)
                self._lock.__enter__()
            except OSError as error:
                raise self._unwritable(error) from error
        self._depth += 1
        return self

    def __exit__(self, *_error: object) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._lock.__exit__(None, None, None)

    def mark(self) -> str | None:
        """Return a text that changes whenever the file does; None if there is no file."""
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unreadable(error) from error
        return f"{found.st_ino} {found.st_size} {found.st_mtime_ns}"

    def size(self) -> int:
        """Return the size of the file in bytes."""
        return os.path.getsize(self.path) if os.path.exists(self.path) else 0

    def commits(self) -> Iterator[list[dict[str, Any]]]:
        """Yield the lines of each commit, in order. Raises StorageError if the file cannot be read."""
        self.end = self.damaged = 0
        try:
            with open_regular(self.path) as file:
                yield from self._commits(iter(lambda: file.readline(_LONGEST_LINE), b""))
        except FileNotFoundError:
            return
        except OSError as error:
            raise self._unreadable(error) from error

    def _commits(self, lines: Iterable[bytes]) -> Iterator[list[dict[str, Any]]]:
        commit: list[dict[str, Any]] = []
        position = damaged_before = 0
        for line in lines:
            position += len(line)
            told = parse_object(line, _SURROGATES)
            if told is None:
                self.damaged += bool(line.strip()) and line.endswith(b"\n")
            elif _COMMIT in told:
                yield commit
                commit, self.end, damaged_before = [], position, self.damaged
            else:
                commit.append(told)
        if self.damaged > damaged_before:  # an editor or the disk damaged the commit line
            yield commit
            self.end = position

    def append(self, lines: Iterable[dict[str, Any]], *, durable: bool) -> None:
        """Append a commit. The caller holds the lock. Raises StorageError and leaves the file unchanged."""
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, PRIVATE)
        except OSError as error:
            raise self._unwritable(error) from error
        try:
            size = os.fstat(descriptor).st_size
            is_open = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"  # an editor may remove the last newline
            content = b"".join(map(_line, (*lines, {_COMMIT: True})))
            try:
                _write(descriptor, b"\n" + content if is_open else content)
                if durable:
                    os.fsync(descriptor)
            except BaseException:
                os.ftruncate(descriptor, size)
                raise
            if durable and not size:
                sync_folder(self.folder)
        except OSError as error:
            raise self._unwritable(error) from error
        finally:
            os.close(descriptor)

    def cut(self, end: int) -> None:
        """Truncate the file at a position. The caller holds the lock."""
        if self.size() > end:
            try:
                os.truncate(self.path, end)
            except OSError as error:
                raise self._unwritable(error) from error

    def rewrite(self, lines: Iterable[dict[str, Any]]) -> None:
        """Replace the content of the file atomically. The caller holds the lock."""
        temporary = temporary_name(self.path)
        try:
            with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE), "wb") as file:
                for number, line in enumerate(lines, 1):
                    file.write(_line(line))
                    if number % _LINES_OF_A_COMMIT == 0:
                        file.write(_line({_COMMIT: True}))
                file.write(_line({_COMMIT: True}))
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, self.path)
            sync_folder(self.folder)
        except OSError as error:
            raise self._unwritable(error) from error
        finally:
            if os.path.lexists(temporary):
                os.unlink(temporary)

    def _unwritable(self, error: OSError) -> StorageError:
        message = f"the journal {self.path} cannot be written: {error.strerror or error}"
        return StorageError(message, "free some space or check the permissions of the folder")

    def _unreadable(self, error: OSError) -> StorageError:
        message = f"the journal {self.path} cannot be read: {error.strerror or error}"
        return StorageError(message, "make it a file that you may read")


def _line(value: dict[str, Any]) -> bytes:
    return (dump_json(value) + "\n").encode("utf-8", _SURROGATES)


def _write(descriptor: int, content: bytes) -> None:
    """Write all bytes. On a nearly full file system one write may store only some of them."""
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
