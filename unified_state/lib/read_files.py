"""Files that are read. Opening a named pipe would block, so only regular files are opened, and all are opened here.

What we wrote ourselves is used only if it is this user's alone.
"""

from __future__ import annotations

import os
from errno import EACCES, EFBIG, EINVAL
from io import BufferedReader
from stat import S_ISREG

from unified_state.errors import NotFoundError

SMALL_FILE, LARGE_FILE = 1 << 20, 1 << 24  # bytes at most of a file that we write, and of one that others write
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def open_regular(path: str, buffering: int = -1) -> BufferedReader:
    """Open a regular file for reading. Raises OSError."""
    return open(_opened(path)[0], "rb", buffering)  # type: ignore[return-value]  # without a buffer it is a FileIO


def read_regular(path: str, limit: int) -> bytes:
    """Return the content of a regular file. Raises OSError, also if the file has more than `limit` bytes.

    Files of /proc have no size, so they count as empty: reading /proc/kmsg would block.
    """
    return _content(*_opened(path), path, limit)


def read_own(path: str, limit: int, *owners: int) -> bytes:
    """Return the content of a file of ours. Raises NotOursError for one that is not this user's alone (`not_ours`), and
    OSError as `read_regular` does.
    """
    descriptor, found = _opened(path)
    reason = not_ours(found, *owners)
    if reason:
        os.close(descriptor)
        raise NotOursError(EACCES, reason, path)
    return _content(descriptor, found, path, limit)


class NotOursError(OSError):
    """A file of ours belongs to another user, or others may write to it, so what it holds is not used."""


def not_ours(found: os.stat_result, *owners: int) -> str:
    """Return why a file or folder is not this user's alone, or "".

    Its owner must be this user, root or one of `owners`. Nobody else may write to it: neither all users nor a group,
    unless it is this user's private one, with which the umask usually is 002. The mode 0777 says nothing, because file
    systems without modes have it for every file.
    """
    if found.st_uid not in (0, *owners) and not is_own(found.st_uid):
        return f"it belongs to another user ({found.st_uid})"
    mode = found.st_mode & 0o777
    if not hasattr(os, "geteuid") or mode == 0o777 or not mode & 0o022:  # noqa: PLR2004
        return ""  # Windows has no such modes
    is_private = not mode & 0o002 and _is_private_group(found.st_gid)
    return "" if is_private else f"other users may write to it (mode {mode:03o})"


def _is_private_group(group: int) -> bool:
    """Return whether a group is this user's alone: the number or the name of both is the same, as `useradd` has it."""
    if group != os.getegid():
        return False
    if group == os.geteuid():
        return True
    import grp  # not on Windows
    import pwd

    try:
        return grp.getgrgid(group).gr_name == pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return False


def is_own(user: int) -> bool:
    """Return whether the owner of a file is this user; for root also the user behind `sudo`, as git has it."""
    if not hasattr(os, "geteuid"):
        return True  # Windows names no owner so
    own = os.geteuid()
    return user == own or (own == 0 and os.environ.get("SUDO_UID") == str(user))


def _content(descriptor: int, found: os.stat_result, path: str, limit: int) -> bytes:
    size = found.st_size
    try:
        if size > limit:
            raise OSError(EFBIG, f"it has more than {limit:,} bytes", path)
        content = os.read(descriptor, size)
        while len(content) < size and (more := os.read(descriptor, size - len(content))):
            content += more
        return content
    finally:
        os.close(descriptor)


def _opened(path: str) -> tuple[int, os.stat_result]:
    """Return the descriptor and the properties of a regular file."""
    try:
        descriptor = os.open(path, _READ)
    except ValueError as error:  # a NUL, or half of a surrogate pair
        raise OSError(EINVAL, "no file can have this name", path) from error
    found = os.fstat(descriptor)
    if S_ISREG(found.st_mode):
        return descriptor, found
    os.close(descriptor)
    raise OSError(EINVAL, "it is not a regular file", path)


def read_text(path: str) -> str:
    """Return the text of a file that somebody named. Raises NotFoundError."""
    try:
        return read_regular(path, LARGE_FILE).decode("utf-8", "replace")
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
        raise NotFoundError(message, "name a file that you may read") from error
