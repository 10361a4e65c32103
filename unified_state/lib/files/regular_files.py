"""Reading files that a stranger may have put there: a FIFO would keep us waiting for ever, a device has no end."""

from __future__ import annotations

import os
from stat import S_ISREG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from io import BufferedReader

_NO_WAITING = getattr(os, "O_NONBLOCK", 0)


class IrregularFileError(OSError):
    """A path leads to something else than a regular file."""


def open_regular(path: str) -> BufferedReader:
    """A regular file, opened for reading. Raises IrregularFileError, and OSError as `open` does."""
    file = open(path, "rb", opener=_open)  # noqa: SIM115  # the caller closes it
    if S_ISREG(os.fstat(file.fileno()).st_mode):
        return file
    file.close()
    message = f"{path} is not a regular file"
    raise IrregularFileError(message)


def read_regular(path: str, limit: int) -> bytes:
    """The beginning of a regular file, up to a limit in bytes. Raises as `open_regular` does."""
    with open_regular(path) as file:
        return file.read(limit)


def _open(path: str, flags: int) -> int:
    return os.open(path, flags | _NO_WAITING)
