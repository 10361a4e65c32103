"""Files derived from an archive's vectors, which can be rebuilt: content, then a trailer that identifies its source.

A file is replaced only by a complete one. A file that is truncated, damaged, of another archive, newer than an archive
restored from a backup, or older than a forgotten vector counts as missing. The files are in a private folder beside the
archive.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from struct import Struct
from struct import error as StructError  # noqa: N812

from unified_state.errors import StorageError
from unified_state.lib.files import PRIVATE, FileLock, temporary_name
from unified_state.lib.read_files import open_regular
from unified_state.lib.record import Record
from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.vector_table import Last, VectorModel

SCAN = "bits1"  # the kind of the files, with the version of their format
# Kind, stamp, dimensions, count, number and mark of the last vector, start of the checksum (0), length of the content,
# checksum.
_TRAILER = Struct("<16s32sQQQQQQQ")
_WORD = 8  # bytes of the checksum, and of each number in its sum
_LOCK = "lock"


class Made(Record):
    """The source of a file: the model's stamp and dimensions, the number of vectors, and the last one."""

    stamp: str
    dimensions: int
    count: int
    last: Last


def derived_folder(archive: Archive) -> str:
    """Return the folder of an archive's derived files."""
    return f"{archive.file}.vectors"


def derived_path(archive: Archive, model: VectorModel) -> str:
    """Return the path of a model's file."""
    return os.path.join(derived_folder(archive), f"{model.number}.{SCAN}")


def identity(path: str) -> tuple[int, ...]:
    """Return a value that differs for any earlier or later file of the same name; () if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_ino, found.st_mtime_ns, found.st_size


def derived_lock(archive: Archive) -> FileLock:
    """Return the lock for writing derived files. Other processes do not wait for it.

    Raises StorageError if the folder cannot be created.
    """
    folder = derived_folder(archive)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError as error:
        message = f"{folder} cannot be made: {error.strerror or error}"
        raise StorageError(message, "check the permissions of the folder") from error
    return FileLock(os.path.join(folder, _LOCK), 0)


def remove_stale(archive: Archive) -> None:
    """Remove stale files, made before a vector was deleted, and temporary ones.

    Call it after the commit that deleted the vector. A process that is writing a file finds it missing, or detects the
    change itself (`refresh`). Raises StorageError.
    """
    folder = derived_folder(archive)
    if not os.path.isdir(folder):
        return
    stamps = {
        f"{number}.{SCAN}": stamp.encode() for number, stamp in archive.rows("SELECT id, stamp FROM vector_model")
    }
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if name != _LOCK and stamps.get(name) != _stamp(path):
            _remove(path)


def _stamp(path: str) -> bytes:
    """Return the stamp in a file's trailer; b"" if it has none."""
    try:
        with open_regular(path) as file:
            file.seek(-_TRAILER.size, os.SEEK_END)
            stamp: bytes = _TRAILER.unpack(file.read(_TRAILER.size))[1]
    except (OSError, StructError):
        return b""
    return stamp


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:  # another process has removed it
        return
    except OSError as error:
        message = f"{path} cannot be removed: {error.strerror or error}"
        raise StorageError(message, "remove it: it may hold what was forgotten, and is made again") from error


def publish(path: str, made: Made, write: Callable[[str], None]) -> bool:
    """Write a file completely and move it into place. Return False if `remove_stale` removed it before that.

    Raises StorageError.
    """
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


def open_derived(path: str, model: VectorModel) -> tuple[Made, mmap.mmap] | None:
    """Return a file's source and content; None if the model has no usable file."""
    try:
        with open_regular(path) as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):  # missing, or empty
        return None
    try:
        return _checked(mapped, model), mapped
    except (StructError, UnicodeDecodeError, _DamagedError):
        return None


class _DamagedError(Exception):
    """The file does not match its trailer, or belongs to another model."""


def _checked(mapped: mmap.mmap, model: VectorModel) -> Made:
    end = len(mapped) - _TRAILER.size
    kind, stamp, dimensions, count, last, mark, begin, body, checksum = _TRAILER.unpack_from(mapped, max(end, 0))
    made = Made(stamp.decode(), dimensions, count, Last(last, mark))
    found = (kind.rstrip(b"\0").decode(), made.stamp, dimensions, begin, body)
    if found != (SCAN, model.stamp, model.dimensions, 0, end) or checksum != _checksum(mapped):
        raise _DamagedError
    return made


def _finish(path: str, made: Made) -> None:
    """Append the trailer to a file's content, and sync both to the disk."""
    os.chmod(path, PRIVATE)
    with open(path, "r+b") as file:
        file.write(bytes(-file.seek(0, os.SEEK_END) % _WORD))
        numbers = (made.dimensions, made.count, made.last.number, made.last.mark, 0, file.tell(), 0)
        file.write(_TRAILER.pack(SCAN.encode(), made.stamp.encode(), *numbers))
        file.flush()
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            checksum = _checksum(mapped)
        file.seek(-_WORD, os.SEEK_END)
        file.write(checksum.to_bytes(_WORD, "little"))
        file.flush()
        os.fsync(file.fileno())


def _checksum(mapped: mmap.mmap) -> int:
    """Return the sum of all words except the last, which is the checksum. numpy sums at memory speed."""
    import numpy as np

    words = np.frombuffer(mapped, "<u8", len(mapped) // _WORD - 1)
    return int(words.sum(dtype=np.uint64))
