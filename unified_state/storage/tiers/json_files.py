"""Files of lines that grow together: what is added to several of them is there whole, or not at all.

A small journal beside them holds how long each file was before it grows. It is written first and emptied last, so
whoever finds it filled cuts what a killed process left behind the old ends; such a tail is never read. All of it
happens under one lock, which lies beside the folder: the folder itself may be moved away while the lock is held.
"""

from __future__ import annotations

import os

from unified_state.errors import StorageError
from unified_state.interpreter import dump_ascii_json, parse_json
from unified_state.storage.atomic_file import PRIVATE, sync_folder, write_atomically
from unified_state.storage.lock import FileLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import TracebackType
    from typing import Any, BinaryIO, Self, TypeVar

    R = TypeVar("R")

_JOURNAL = "journal"
_SECONDS = 10.0
_PART = 1 << 22  # bytes that are read at a time


class LineFiles:
    """The files of one folder. `with files: …` holds the lock; inside, more of the same is free."""

    def __init__(self, folder: str, *, seconds: float = _SECONDS) -> None:
        self.folder = folder
        self._lock = FileLock(f"{folder}.lock", seconds)
        self._depth = 0
        self._kept: tuple[str, object, list[bytes]] | None = None

    def __enter__(self) -> Self:
        if self._depth == 0:
            try:
                os.makedirs(os.path.dirname(self.folder), mode=0o700, exist_ok=True)
                self._lock.__enter__()
            except OSError as error:
                raise self._unwritable(error) from error
            try:
                self._cut_tails()
            except OSError as error:
                self._lock.__exit__(None, None, None)
                raise self._unwritable(error) from error
        self._depth += 1
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._lock.__exit__(None, None, None)

    def path(self, name: str) -> str:
        """Where a file lies."""
        return os.path.join(self.folder, name)

    def ensure(self) -> None:
        """Make the folder, which only the user can read."""
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
        except OSError as error:
            raise self._unwritable(error) from error

    def read(self, name: str) -> bytes:
        """What a file holds; nothing where there is none."""
        return b"".join(self.reading(name, lambda file, size: iter((file.read(size),))))

    def parts(self, name: str) -> Iterator[tuple[int, bytes]]:
        """The lines of a file, in parts of some megabytes that end with one; each with where it begins."""
        return self.reading(name, _parts_of)

    def reading(self, name: str, reader: Callable[[BinaryIO, int], Iterator[R]]) -> Iterator[R]:
        """What a reader makes of a file and the size that counts; nothing where there is no file."""
        try:
            if os.path.isdir(self.folder) and os.access(self.folder, os.W_OK):
                with self:  # only to open it: what is added later does not change what is read now
                    descriptor, size = self._open(name)
            else:
                descriptor, size = self._open(name)
                size = min(size, self._journal().get(name, size))
            with open(descriptor, "rb") as file:
                yield from reader(file, size)
        except FileNotFoundError:
            return
        except OSError as error:
            message = f"{self.path(name)} cannot be read: {error.strerror or error}"
            raise StorageError(message, "make it a file that you may read") from error

    def append(self, additions: Mapping[str, bytes]) -> None:
        """Make files longer, durably; if anything fails, none of them."""
        with self:
            try:
                self._append(additions)
            except OSError as error:
                raise self._unwritable(error) from error

    def rewrite(self, name: str, content: bytes) -> None:
        """Put other content in a file's place."""
        with self:
            write_atomically(self.path(name), content, PRIVATE)

    def remove(self, name: str) -> None:
        """Take a file away."""
        with self:
            try:
                os.unlink(self.path(name))
            except OSError as error:
                raise self._unwritable(error) from error

    def lines(self, name: str) -> list[bytes]:
        """The lines of a file. Those of the file that was read last are kept until it changes."""
        mark = self._mark(name)
        if self._kept is None or mark is None or self._kept[:2] != (name, mark):
            self._kept = (name, mark, split_lines(self.read(name)))
        return self._kept[2]

    def _append(self, additions: Mapping[str, bytes]) -> None:
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        before = {name: self._size(name) for name in additions}
        journal = os.open(self.path(_JOURNAL), os.O_RDWR | os.O_CREAT, PRIVATE)
        try:
            _write(journal, (dump_ascii_json(before) + "\n").encode())
            try:
                for name, content in additions.items():
                    self._grow(name, content)
                if not all(before.values()):
                    sync_folder(self.folder)
            except BaseException:
                self._cut(before)  # where even that fails the journal stays, and the next process cuts
                _empty(journal)
                raise
            _empty(journal)  # the commit
        finally:
            os.close(journal)

    def _grow(self, name: str, content: bytes) -> None:
        descriptor = os.open(self.path(name), os.O_RDWR | os.O_CREAT | os.O_APPEND, PRIVATE)
        try:
            size = os.fstat(descriptor).st_size
            is_open = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"  # as an editor may leave it
            _write(descriptor, b"\n" + content if is_open else content)
        finally:
            os.close(descriptor)

    def _cut_tails(self) -> None:
        """Take away what a process that was killed had begun to add."""
        before = self._journal()
        if before:
            self._cut(before)
            os.truncate(self.path(_JOURNAL), 0)

    def _cut(self, before: Mapping[str, int]) -> None:
        for name, size in before.items():
            if self._size(name) > size:
                descriptor = os.open(self.path(name), os.O_WRONLY)
                try:
                    os.ftruncate(descriptor, size)
                    os.fsync(descriptor)  # before the journal is emptied
                finally:
                    os.close(descriptor)

    def _journal(self) -> dict[str, int]:
        """How long the files were that were about to grow. Half a journal is of a process that had not begun yet."""
        try:
            with open(self.path(_JOURNAL), encoding="ascii") as file:
                content = file.read()
        except FileNotFoundError:
            return {}
        try:
            before: Any = parse_json(content) if content.endswith("\n") else {}
        except ValueError:
            return {}
        return before if isinstance(before, dict) else {}

    def _open(self, name: str) -> tuple[int, int]:
        descriptor = os.open(self.path(name), os.O_RDONLY)
        return descriptor, os.fstat(descriptor).st_size

    def _mark(self, name: str) -> tuple[int, ...] | None:
        """What changes when a file does; None where that cannot be told, as a tail may wait to be cut."""
        try:
            found = os.stat(self.path(name))
        except OSError:
            return None
        return None if self._journal() else (found.st_ino, found.st_size, found.st_mtime_ns)

    def _unwritable(self, error: OSError) -> StorageError:
        message = f"{self.folder} cannot be written: {error.strerror or error}"
        return StorageError(message, "free some space or check the permissions of the folder")

    def _size(self, name: str) -> int:
        try:
            return os.stat(self.path(name)).st_size
        except FileNotFoundError:
            return 0


def split_lines(content: bytes) -> list[bytes]:
    """The lines of a file; also where an editor has ended them otherwise, or the last one not at all."""
    lines = content.split(b"\n")
    if not lines[-1]:
        del lines[-1]
    return [line.removesuffix(b"\r") for line in lines] if b"\r" in content else lines


def _parts_of(file: BinaryIO, size: int) -> Iterator[tuple[int, bytes]]:
    begin, part = 0, b""
    while size > 0 and (content := file.read(min(size, _PART))):
        size -= len(content)
        end = content.rfind(b"\n") + 1
        if end:
            part += content[:end]
            yield begin, part
            begin, part = begin + len(part), content[end:]
        else:
            part += content
    if part:
        yield begin, part + b"\n"


def _write(descriptor: int, content: bytes) -> None:
    """All of it, onto the disk: a file system that is nearly full takes a part."""
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
    os.fsync(descriptor)


def _empty(descriptor: int) -> None:
    os.ftruncate(descriptor, 0)
    os.fsync(descriptor)
