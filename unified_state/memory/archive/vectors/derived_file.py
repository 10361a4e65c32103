"""Files that are made of an archive's vectors and can be made again: what they hold, then a trailer of what they were
made of.

A file is only ever replaced by a whole one, and one that is cut off, damaged, of another archive, newer than an archive
that came back from a backup, or older than a forgotten vector counts as none. They lie in a private folder beside the
archive, which is theirs alone.
"""

from __future__ import annotations

import mmap
import os
from struct import Struct
from struct import error as StructError  # noqa: N812

from unified_state.errors import StorageError
from unified_state.lib.files.atomic_file import PRIVATE, temporary_name
from unified_state.lib.files.file_lock import FileLock
from unified_state.lib.record import Record
from unified_state.memory.archive.vectors.vector_table import Last

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.archive.vectors.vector_table import VectorModel

SCAN, GRAPH = "bits1", "hnsw1"  # kinds, with the version of their form
_TRAILER = Struct("<16s32sQQQQQQQ")
_WORD = 8  # bytes: of the checksum at the end, and of what it is the sum of
_LOCK = "lock"


class Made(Record):
    """What a file was made of: its kind with the version of its form, the model's dimensions and stamp, how many
    vectors, and the last one. From `checked_from` on no byte may be another than it was.
    """

    kind: str
    stamp: str
    dimensions: int
    count: int
    last: Last
    checked_from: int = 0


def derived_folder(archive: Archive) -> str:
    """Where the derived files of an archive lie."""
    return f"{archive.path}.vectors"


def derived_path(archive: Archive, model: VectorModel, kind: str) -> str:
    """Where a model's file of a kind lies."""
    return os.path.join(derived_folder(archive), f"{model.number}.{kind}")


def derived_lock(archive: Archive) -> FileLock:
    """What whoever makes derived files holds: of several processes one makes them, and none waits."""
    folder = derived_folder(archive)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError as error:
        message = f"{folder} cannot be made: {error.strerror or error}"
        raise StorageError(message, "check the permissions of the folder") from error
    return FileLock(os.path.join(folder, _LOCK), 0)


def remove_stale(archive: Archive) -> None:
    """Remove the files that were made before a vector was taken away, and those that never got their name: call it
    behind the commit that took it away. A process that is making one finds it gone, or finds so itself (`refresh`).
    """
    folder = derived_folder(archive)
    if not os.path.isdir(folder):
        return
    stamps = {
        f"{number}.{kind}": stamp.encode()
        for number, stamp in archive.rows("SELECT id, stamp FROM vector_model")
        for kind in (SCAN, GRAPH)
    }
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if name != _LOCK and stamps.get(name) != _stamp(path):
            _remove(path)


def _stamp(path: str) -> bytes:
    """The stamp that a file carries; none where it is no such file."""
    try:
        with open(path, "rb") as file:
            file.seek(-_TRAILER.size, os.SEEK_END)
            stamp: bytes = _TRAILER.unpack(file.read())[1]
    except (OSError, StructError):
        return b""
    return stamp


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:  # another process was quicker
        return
    except OSError as error:
        message = f"{path} cannot be removed: {error.strerror or error}"
        raise StorageError(message, "remove it: it may hold what was forgotten, and is made again") from error


def publish(path: str, made: Made, write: Callable[[str], None]) -> bool:
    """Put a file in place whole. False where it was removed meanwhile, as `remove_stale` does."""
    temporary = temporary_name(path)
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE))
        try:
            write(temporary)
            _finish(temporary, made)
            os.replace(temporary, path)
        finally:
            if os.path.exists(temporary):
                os.unlink(temporary)
    except FileNotFoundError:
        return False
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror or error}"
        raise StorageError(message, "free some space or check the permissions of the folder") from error
    return True


def open_derived(path: str, kind: str, model: VectorModel) -> tuple[Made, mmap.mmap] | None:
    """A file's content and what it was made of; None where there is none that is worth anything."""
    try:
        with open(path, "rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):  # none; an empty one
        return None
    try:
        return _checked(mapped, kind, model), mapped
    except (StructError, UnicodeDecodeError, _DamagedError):
        return None


class _DamagedError(Exception):
    """A file that is not what its trailer says, or not what is looked for."""


def _checked(mapped: mmap.mmap, kind: str, model: VectorModel) -> Made:
    end = len(mapped) - _TRAILER.size
    name, stamp, dimensions, count, last, mark, checked_from, body, checksum = _TRAILER.unpack_from(mapped, max(end, 0))
    made = Made(name.rstrip(b"\0").decode(), stamp.decode(), dimensions, count, Last(last, mark), checked_from)
    if (made.kind, made.stamp, made.dimensions, body) != (kind, model.stamp, model.dimensions, end):
        raise _DamagedError
    if checked_from > end or checksum != _checksum(mapped, checked_from):
        raise _DamagedError
    return made


def _finish(path: str, made: Made) -> None:
    """Write the trailer behind a file's content, and bring both to the disk."""
    os.chmod(path, PRIVATE)
    with open(path, "r+b") as file:
        file.write(bytes(-file.seek(0, os.SEEK_END) % _WORD))
        numbers = (made.dimensions, made.count, made.last.number, made.last.mark, made.checked_from, file.tell(), 0)
        file.write(_TRAILER.pack(made.kind.encode(), made.stamp.encode(), *numbers))
        file.flush()
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            checksum = _checksum(mapped, made.checked_from)
        file.seek(-_WORD, os.SEEK_END)
        file.write(checksum.to_bytes(_WORD, "little"))
        file.flush()
        os.fsync(file.fileno())


def _checksum(mapped: mmap.mmap, begin: int) -> int:
    """The sum of all words but the last, where it stands itself; numpy gives it at the speed of memory."""
    import numpy as np

    words = np.frombuffer(mapped, "<u8", (len(mapped) - begin) // _WORD - 1, begin)
    return int(words.sum(dtype=np.uint64))
