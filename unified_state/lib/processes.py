"""Several programs at once: started together, their outputs read side by side until a deadline.

When `finish` returns, every program has ended or was killed, and was reaped. No output is held whole: it goes to its
reader piece by piece.

Programs start through `os.posix_spawn`, since importing `subprocess` alone costs a hook more than git takes; where
there is no posix_spawn (Windows), `subprocess` does the same.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Protocol

    class Reader(Protocol):
        """Takes in an output as it arrives."""

        def feed(self, piece: bytes) -> None: ...

    class Processes(Protocol):
        """Programs that were started; to be finished before a point of the monotonic clock, in seconds."""

        def finish(self, end: float) -> None: ...


def absolute_folders(environ: Mapping[str, str]) -> str:
    """The PATH without its relative and empty entries, which lead into the current folder: it may be a stranger's
    repository.
    """
    folders = environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(filter(os.path.isabs, folders)) or os.devnull  # an empty PATH is the folder we are in


def leave_relative_path() -> None:
    """Set the PATH of this process to its absolute folders, so that no library looks for a program anywhere else."""
    os.environ["PATH"] = absolute_folders(os.environ)


_PIECE = 1 << 16
_COMPLAINT_LIMIT = 1 << 12
_SIGKILL = 9  # importing `signal` loads `enum`: 3 ms
_LAST_CHANCE = 0.05  # seconds to hand over what has ended before the deadline, but after one that has not
_PATIENCE = 1.0  # seconds for a killed program to go; one that hangs in the kernel (a dead network disk) may not


def find_program(name: str, environ: Mapping[str, str], outside: str = "") -> str | None:
    """The path of a program in the absolute folders of the PATH; None if there is none. Programs in the folder
    `outside` are skipped, unless that folder holds the user's home too.
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
    """Keeps the beginning of an output, up to a limit in bytes."""

    def __init__(self, limit: int) -> None:
        self.content = b""
        self._limit = limit

    def feed(self, piece: bytes) -> None:
        """Take in the next piece of the output."""
        self.content += piece[: self._limit - len(self.content)]


class Program:
    """One program: its name for people, its arguments (the first is its path), the reader of its output, its exit code.

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
    """Programs started with `os.posix_spawn`, each in a process group of its own, so that its children go with it."""

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
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
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
        """Read until all programs have ended, at most until `end`; kill those that have not."""
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
            except OSError:  # it left its group, or (macOS) has just ended
                os.kill(pid, _SIGKILL)
        while self._running:
            _wait(self._running.popitem()[0], time.monotonic() + _PATIENCE)


def _wait(pid: int, end: float) -> int | None:
    """The exit code of a child; None if it still runs at `end`."""
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() >= end:
            return None
        time.sleep(0.0005)


class PopenedProcesses:
    """Programs started with `subprocess`, where there is no `os.posix_spawn`."""

    def __init__(self, programs: Sequence[Program], environment: Mapping[str, str]) -> None:
        from subprocess import DEVNULL, PIPE, Popen

        self._running: list[tuple[Program, Popen[bytes]]] = []
        try:
            for program in programs:
                stdin = DEVNULL if program.stdin is None else program.stdin
                process = Popen(program.arguments, stdin=stdin, stdout=PIPE, stderr=PIPE, env=environment)
                self._running.append((program, process))
        except BaseException:
            self._stop()
            raise

    def finish(self, end: float) -> None:
        """Read until all programs have ended, at most until `end`; kill those that have not."""
        from subprocess import TimeoutExpired

        try:
            for program, process in self._running:
                try:
                    left = end - time.monotonic()
                    output, complaint = process.communicate(timeout=max(left, _LAST_CHANCE))
                except TimeoutExpired:
                    continue  # its exit code stays None, which says so, and it is killed below
                program.output.feed(output)
                program.complaint.feed(complaint)
                program.exit_code = process.returncode
        finally:
            self._stop()

    def _stop(self) -> None:
        for _, process in self._running:
            with process:  # closes its pipes and reaps it
                process.kill()


start_programs: Callable[[Sequence[Program], Mapping[str, str]], Processes] = (
    SpawnedProcesses if hasattr(os, "posix_spawn") else PopenedProcesses
)
