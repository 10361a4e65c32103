"""Several programs at once: started together, their outputs read concurrently until a deadline.

When `finish` returns, every program has ended or was killed, and was reaped. Outputs are not buffered: each piece goes
to its reader.

Programs start through `posix_spawn`, since importing `subprocess` alone costs a hook more than git takes. On Windows,
which has no posix_spawn, `subprocess` is used. `os` is loaded only to find a program: the status line does without it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from subprocess import Popen


class Reader(Protocol):
    """A consumer of an output, piece by piece."""

    def feed(self, piece: bytes) -> None: ...


class Processes(Protocol):
    """Programs that were started. `finish` ends them before a point of the monotonic clock, in seconds."""

    def finish(self, end: float) -> None: ...


def absolute_folders(environ: Mapping[str, str]) -> str:
    """Return the PATH without its relative and empty entries.

    Those refer to the current folder, which may be a stranger's repository.
    """
    folders = environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(filter(os.path.isabs, folders)) or os.devnull  # an empty PATH would mean the current folder


_PIECE = 1 << 16
_COMPLAINT_LIMIT = 1 << 12
_NOTHING = "/dev/null"
_SIGKILL = 9  # the number of SIGKILL; importing `signal` loads `enum`: 3 ms
_LAST_CHANCE = 0.05  # seconds to read the output of a program that ended in time, after one that did not
_PATIENCE = 1.0  # seconds for a killed program to end; one that hangs in the kernel (a dead network disk) may not


def count_processors() -> int:
    """Return the number of processors that this process may use; 1 where processes cannot be copied."""
    if not hasattr(os, "fork"):
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def find_program(name: str, environ: Mapping[str, str], outside: str = "") -> str | None:
    """Return the path of a program in the absolute folders of the PATH, or None.

    Programs in the folder `outside` are skipped, unless that folder also contains the user's home.
    """
    name = f"{name}.exe" if os.name == "nt" else name
    avoided = os.path.join(os.path.realpath(outside), "") if outside else ""
    if avoided and os.path.join(os.path.realpath(os.path.expanduser("~")), "").startswith(avoided):
        avoided = ""
    for folder in absolute_folders(environ).split(os.pathsep):
        path = os.path.join(folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            if avoided and os.path.join(os.path.realpath(folder), "").startswith(avoided):
                continue
            return path
    return None


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
    code.

    Its input is empty, or comes from the descriptor `stdin`.
    """

    def __init__(self, name: str, arguments: list[str], output: Reader, stdin: int | None = None) -> None:
        self.name = name
        self.arguments = arguments
        self.output = output
        self.stdin = stdin
        self.complaint = Excerpt(_COMPLAINT_LIMIT)
        self.exit_code: int | None = None
        """None while it runs, and after it was killed at the deadline."""


class SpawnedProcesses:
    """Programs started with `posix_spawn`, each in its own process group, so that its children are killed with
    it.
    """

    def __init__(self, programs: Sequence[Program], environment: Mapping[str, str]) -> None:
        self._running: dict[int, Program] = {}
        self._readers: dict[int, tuple[Program, Reader]] = {}
        try:
            for program in programs:
                self._start(program, environment)
        except BaseException:
            self._stop()
            raise

    def _start(self, program: Program, environment: Mapping[str, str]) -> None:
        actions: list[tuple[int, int, str, int, int] | tuple[int, int, int]] = [
            (os.POSIX_SPAWN_OPEN, 0, _NOTHING, os.O_RDONLY, 0)
            if program.stdin is None
            else (os.POSIX_SPAWN_DUP2, program.stdin, 0)
        ]
        pipes = []
        try:
            for stream, reader in ((1, program.output), (2, program.complaint)):
                ours, theirs = os.pipe()
                self._readers[ours] = (program, reader)
                pipes.append(theirs)
                actions.append((os.POSIX_SPAWN_DUP2, theirs, stream))
            arguments = program.arguments
            pid = os.posix_spawn(arguments[0], arguments, environment, file_actions=actions, setpgroup=0)
            self._running[pid] = program
        finally:
            for theirs in pipes:
                os.close(theirs)

    def finish(self, end: float) -> None:
        """Read until all programs have ended, at most until `end`, and kill the others."""
        try:
            self._read(end)
            unread = {program for program, _ in self._readers.values()}
            for pid, program in list(self._running.items()):
                if program not in unread and (code := _wait(pid, end)) is not None:
                    program.exit_code = code
                    del self._running[pid]
        finally:
            self._stop()

    def _read(self, end: float) -> None:
        from select import poll

        poller = poll()
        for descriptor in self._readers:
            poller.register(descriptor)
        while self._readers and (left := end - time.monotonic()) > 0:
            for descriptor, _ in poller.poll(left * 1000):
                if piece := os.read(descriptor, _PIECE):
                    self._readers[descriptor][1].feed(piece)
                else:
                    poller.unregister(descriptor)
                    os.close(descriptor)
                    del self._readers[descriptor]

    def _stop(self) -> None:
        while self._readers:
            os.close(self._readers.popitem()[0])
        for pid in self._running:
            try:
                os.killpg(pid, _SIGKILL)
            except OSError:  # it left its group, or (on macOS) has just ended
                os.kill(pid, _SIGKILL)
        while self._running:
            _wait(self._running.popitem()[0], time.monotonic() + _PATIENCE)


def _wait(pid: int, end: float) -> int | None:
    """Return the exit code of a child; None if it still runs at `end`."""
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() >= end:
            return None
        time.sleep(0.0005)


class PopenedProcesses:
    """Programs started with `subprocess`, for systems without `posix_spawn`."""

    def __init__(self, programs: Sequence[Program], environment: Mapping[str, str]) -> None:
        self._running: list[tuple[Program, Popen[bytes]]] = []
        try:
            for program in programs:
                self._running.append((program, self._popen(program, environment)))
        except BaseException:
            self._stop()
            raise

    def _popen(self, program: Program, environment: Mapping[str, str]) -> Popen[bytes]:
        """Start a program."""
        from subprocess import DEVNULL, PIPE, Popen

        stdin = DEVNULL if program.stdin is None else program.stdin
        return Popen(program.arguments, stdin=stdin, stdout=PIPE, stderr=PIPE, env=environment)

    def _kill(self, process: Popen[bytes]) -> None:
        process.kill()

    def finish(self, end: float) -> None:
        """Read until all programs have ended, at most until `end`, and kill the others."""
        from subprocess import TimeoutExpired

        try:
            for program, process in self._running:
                try:
                    left = end - time.monotonic()
                    output, complaint = process.communicate(timeout=max(left, _LAST_CHANCE))
                except TimeoutExpired:
                    continue  # its exit code stays None, and it is killed below
                program.output.feed(output)
                program.complaint.feed(complaint)
                program.exit_code = process.returncode
        finally:
            self._stop()

    def _stop(self) -> None:
        for _, process in self._running:
            with process:  # closes its pipes and reaps it
                self._kill(process)


start_programs: Callable[[Sequence[Program], Mapping[str, str]], Processes] = (
    SpawnedProcesses if hasattr(os, "posix_spawn") else PopenedProcesses
)
