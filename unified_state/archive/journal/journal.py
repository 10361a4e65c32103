"""The file of a journal: a header, then a line for each commit, with the rows that it changed.

A line is written as a whole, and synced, under the lock. Reading needs no lock. A line that a killed process or a full
disk cut off was never acknowledged: readers skip it, and the next commit removes it. Readers also skip a damaged line.
The header has a random `id`, so that a reader sees that the file was written anew.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Self

from unified_state.errors import ArchiveBusyError, ArchiveUnavailableError, StorageError
from unified_state.lib.files import PRIVATE, FileLock, append_whole, write_atomically
from unified_state.lib.json_text import dump_json, parse_object
from unified_state.lib.read_files import open_regular

Line = dict[str, Any]

HEADER = "journal"  # the field that the header alone has: the version of this format
_SURROGATES = "surrogatepass"
_LONGEST_LINE = 1 << 28  # bytes


class Journal:
    """The file at a path. `with journal: …` holds its lock, for which it waits some seconds at most.

    `damaged` is the number of lines that cannot be read.
    """

    def __init__(self, path: str, seconds: float) -> None:
        self.path = path
        self.damaged = 0
        busy = ArchiveBusyError(f"the journal {path} is locked by another process", "try again")
        self._lock = FileLock(f"{path}.lock", seconds, busy)
        self._header = b""
        self._end = 0  # of what was read

    def __enter__(self) -> Self:
        try:
            self._lock.__enter__()
        except ArchiveUnavailableError:
            raise
        except StorageError as error:
            raise ArchiveUnavailableError(error.message, error.hint) from error
        return self

    def __exit__(self, *_error: object) -> None:
        self._lock.__exit__(None, None, None)

    def header(self) -> Line:
        """Return the header of the file; {} without one."""
        try:
            with open_regular(self.path) as file:
                found = parse_object(file.readline(_LONGEST_LINE), _SURROGATES) or {}
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise self._unusable(error) from error
        return found if HEADER in found else {}

    def news(self) -> Iterator[Line]:
        """Yield the lines that were not read yet. If the file was written anew, these are all, its header first."""
        try:
            with open_regular(self.path) as file:
                header = file.readline(_LONGEST_LINE)
                if header != self._header:
                    self._header, self._end, self.damaged = header, 0, 0
                file.seek(self._end)
                for line in iter(lambda: file.readline(_LONGEST_LINE), b""):
                    told = parse_object(line, _SURROGATES)
                    if told is None and not line.endswith(b"\n"):
                        return  # it is being written, or was never acknowledged
                    self._end += len(line)
                    self.damaged += told is None and bool(line.strip())
                    if told is not None:
                        yield told
        except FileNotFoundError as error:
            if self._end:
                message = f"the journal {self.path} was removed meanwhile"
                raise ArchiveUnavailableError(message, "try again") from error
        except OSError as error:
            raise self._unusable(error) from error

    def append(self, line: Line, *, durable: bool) -> None:
        """Append a line, or leave the file as it was. The caller holds the lock and has read all before it."""
        try:
            self._end = append_whole(self.path, _bytes(line), self._end, durable=durable)
        except OSError as error:
            raise self._unusable(error) from error

    def write_anew(self, header: Line, lines: Iterable[Line]) -> None:
        """Replace the content of the file atomically. The caller holds the lock."""
        first = _bytes({HEADER: 1, **header, "id": os.urandom(8).hex()})
        try:
            write_atomically(self.path, chain((first,), map(_bytes, lines)), PRIVATE)
            end = os.path.getsize(self.path)
        except StorageError as error:
            cause = error.__cause__
            raise (self._unusable(cause) if isinstance(cause, OSError) else error) from error
        self._header, self._end, self.damaged = first, end, 0

    def _unusable(self, error: OSError) -> ArchiveUnavailableError:
        message = f"the journal {self.path} cannot be used: {error.strerror or error}"
        return ArchiveUnavailableError(message, "free some space or check the permissions")


def _bytes(line: Line) -> bytes:
    return (dump_json(line) + "\n").encode("utf-8", _SURROGATES)
