"""A long transcript is read by a second process, a chunk ahead of the one that writes the archive.

Reading, masking and compressing need no archive, and take as long as writing and deriving. The second process sends
each chunk through a pipe, so both hold one at a time. It stops at a long line, and where anything fails. What the first
process is not sent, it reads itself, so it does without a second one too.
"""

from __future__ import annotations

import os
import pickle  # what our own process sends
import signal

from unified_state.lib.processes import count_processors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, BinaryIO, Self


LONGEST_SENT = 4 << 20  # bytes of a line; the first process reads a longer one, so that its texts are in memory once
_NONE = -1


class ReadAhead:
    """Returns the chunk at an offset. The second process starts at the second chunk, when all that reading loads is
    loaded, and ends with the block.

    `read` returns a chunk with its `end`, or one without an entry at the end of the file, and `read_there` does the
    same in the second process. A chunk that `is_postponed` ends before a line that is longer than `LONGEST_SENT`.
    """

    def __init__(self, read: Callable[[int], Any], read_there: Callable[[int], Any]) -> None:
        self._read, self._read_there = read, read_there
        self._has_started = False
        self._child = _NONE
        self._pipe: BinaryIO | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._end()

    def __call__(self, offset: int) -> Any:
        chunk = self._receive(offset)
        if chunk is None:
            chunk = self._read(offset)
        if not self._has_started:
            self._has_started = True
            self._start(chunk.end)
        return chunk

    def _start(self, offset: int) -> None:
        if count_processors() < 2:  # noqa: PLR2004  # it would only take time from this one
            return
        reading = writing = _NONE
        try:
            reading, writing = os.pipe()
            self._child = os.fork()
        except OSError:  # too many files or processes, or too little memory
            for descriptor in filter(lambda one: one != _NONE, (reading, writing)):
                os.close(descriptor)
            return
        if self._child == 0:
            try:  # whatever happens, this copy of the process does nothing else
                os.close(reading)
                with os.fdopen(writing, "wb") as pipe:
                    _send(self._read_there, offset, pipe)
            finally:
                os._exit(0)
        os.close(writing)
        self._pipe = os.fdopen(reading, "rb")

    def _receive(self, offset: int) -> Any | None:
        """Return the chunk at an offset; None if it was not sent, or the file changed meanwhile."""
        if self._pipe is None:
            return None
        try:
            begin, chunk = pickle.load(self._pipe)  # noqa: S301  # written by `_send`
        except (EOFError, pickle.UnpicklingError):
            begin = None
        if begin == offset:
            return chunk
        self._end()
        return None

    def _end(self) -> None:
        if self._pipe is None:
            return
        self._pipe.close()
        self._pipe = None
        try:
            os.kill(self._child, signal.SIGKILL)
            os.waitpid(self._child, 0)
        except (ProcessLookupError, ChildProcessError):
            return  # who started this process ignores SIGCHLD, so the system has taken the child away


def _send(read: Callable[[int], Any], offset: int, pipe: BinaryIO) -> None:
    """Send chunks until the end of the file, a long line or an error. The first process goes on there."""
    while True:
        chunk = read(offset)
        if chunk.is_postponed or chunk.end == offset:
            return
        pickle.dump((offset, chunk), pipe, pickle.HIGHEST_PROTOCOL)
        pipe.flush()
        offset = chunk.end
