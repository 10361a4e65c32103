"""Several programs at once: started together, their outputs read concurrently until a deadline.

When `finish` returns, every program has ended or was killed, and was reaped. Outputs are not buffered: each piece goes
to its reader.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired
from threading import Thread
from typing import IO, Protocol


class Reader(Protocol):
    """A consumer of an output, piece by piece."""

    def feed(self, piece: bytes) -> None: ...


_PIECE = 1 << 16
_COMPLAINT_LIMIT = 1 << 12
_PATIENCE = 1.0  # seconds for a killed program to end; one that hangs in the kernel (a dead network disk) may not


class Excerpt:
    """A reader that stores the start of an output, up to a limit in bytes."""

    def __init__(self, limit: int) -> None:
        self.content = b""
        self._limit = limit

    def feed(self, piece: bytes) -> None:
        """Append the next piece of the output, up to the limit."""
        self.content += piece[: self._limit - len(self.content)]


class Program:
    """One program: its name for messages, its arguments (the first is its path), the reader of its output, its exit
    code. Its input is empty, or a file.
    """

    def __init__(self, name: str, arguments: list[str], output: Reader, given: int | IO[bytes] = DEVNULL) -> None:
        self.name, self.given = name, given
        self.arguments = arguments
        self.output = output
        self.complaint = Excerpt(_COMPLAINT_LIMIT)
        self.exit_code: int | None = None
        """None while it runs, and after it was killed at the deadline."""


class Processes:
    """Programs that were started, each in its own process group, so that its children are killed with it."""

    def __init__(self, programs: Sequence[Program], environment: Mapping[str, str]) -> None:
        self._running: list[tuple[Program, Popen[bytes], list[Thread]]] = []
        try:
            for program in programs:
                process = self._start(program, environment)
                feeders = [
                    Thread(target=_feed, args=(stream, reader), daemon=True)
                    for stream, reader in ((process.stdout, program.output), (process.stderr, program.complaint))
                ]
                self._running.append((program, process, feeders))
                for feeder in feeders:
                    feeder.start()
        except BaseException:
            self._stop()
            raise

    def _start(self, program: Program, environment: Mapping[str, str]) -> Popen[bytes]:
        return Popen(program.arguments, stdin=program.given, stdout=PIPE, stderr=PIPE, env=environment, process_group=0)

    def finish(self, end: float) -> None:
        """Read until all programs have ended, at most until `end` of the monotonic clock, and kill the others."""
        try:
            for program, process, feeders in self._running:
                for feeder in feeders:
                    feeder.join(max(0.0, end - time.monotonic()))
                if not any(feeder.is_alive() for feeder in feeders):
                    with suppress(TimeoutExpired):
                        program.exit_code = process.wait(max(0.0, end - time.monotonic()))
        finally:
            self._stop()

    def _stop(self) -> None:
        for _, process, feeders in self._running:
            if process.returncode is None:
                _kill(process)
            with suppress(TimeoutExpired):
                process.wait(_PATIENCE)
            for feeder in feeders:
                feeder.join(_PATIENCE)


def _feed(stream: IO[bytes], reader: Reader) -> None:
    with stream:
        while piece := os.read(stream.fileno(), _PIECE):
            reader.feed(piece)


def _kill(process: Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (AttributeError, OSError):  # Windows; it left its group, or (on macOS) has just ended
        process.kill()
