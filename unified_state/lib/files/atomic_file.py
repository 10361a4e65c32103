"""The one function that writes whole files: a reader sees the old content or the new, never half, whatever crashes."""

from __future__ import annotations

import os

from unified_state.errors import StorageError

PRIVATE = 0o600
UNFINISHED = ".tmp"  # what the names of files end with that are not in their place yet


def write_atomically(path: str, content: bytes, mode: int | None = None) -> None:
    """Write through a temporary file in the same folder: create, write, fsync, replace, fsync the folder.

    The file keeps its permissions; a new one is private unless `mode` says otherwise. Raises StorageError and leaves
    the old file alone where the new one cannot be written.
    """
    folder = os.path.dirname(path) or "."
    try:
        os.makedirs(folder, exist_ok=True)
        _replace(path, content, _mode_of(path) if mode is None else mode, to_disk=True)
        sync_folder(folder)
    except OSError as error:
        raise _write_error(path, error) from error


def write_note(path: str, content: bytes) -> None:
    """Write a small private file whole, but without waiting for the disk: for what is only a help and can be found out
    again. Its folder is there. Raises StorageError.
    """
    try:
        _replace(path, content, PRIVATE)
    except OSError as error:
        raise _write_error(path, error) from error


def create_once(path: str, content: bytes) -> bool:
    """Create a private file whole; False where there is one already. Of several processes exactly one creates it."""
    temporary = temporary_name(path)
    _create(temporary, content, PRIVATE)
    return publish_once(temporary, path)


def publish_once(temporary: str, path: str) -> bool:
    """Give a finished file its name, unless there is a file of that name; the temporary name is gone in any case."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links
        if os.path.lexists(path):
            return False
        os.rename(temporary, path)
    finally:
        if os.path.lexists(temporary):
            os.unlink(temporary)
    return True


def set_aside(path: str) -> str:
    """Give what lies at a path, whatever it is, another name, which is returned. A file keeps its own name too, until
    it is replaced. Raises OSError.
    """
    number = 1
    while os.path.lexists(aside := f"{path}.damaged-{number}"):
        number += 1
    try:
        os.link(path, aside)
    except OSError:  # a folder, or a file system without hard links
        os.rename(path, aside)
    return aside


def temporary_name(path: str) -> str:
    """A name beside the file that no other process takes."""
    return f"{path}.{os.getpid()}.{os.urandom(4).hex()}{UNFINISHED}"


def _replace(path: str, content: bytes, mode: int, *, to_disk: bool = False) -> None:
    temporary = temporary_name(path)
    _create(temporary, content, mode, to_disk=to_disk)
    try:
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _create(path: str, content: bytes, mode: int, *, to_disk: bool = False) -> None:
    """A new file with all of the content, or none."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            if to_disk:
                file.flush()
                os.fsync(descriptor)
    except BaseException:
        os.unlink(path)
        raise


def _write_error(path: str, error: OSError) -> StorageError:
    message = f"{path} cannot be written: {error.strerror or error}"
    return StorageError(message, "free some space or check the permissions of the folder")


def _mode_of(path: str) -> int:
    try:
        return os.stat(path).st_mode & 0o777
    except OSError:
        return PRIVATE


def sync_folder(folder: str) -> None:
    """Make the new name durable. Where folders cannot be opened (Windows) the file system does it by itself."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
