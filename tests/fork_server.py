"""Runs commands and hooks without starting an interpreter each time: inside this process, or in forked ones.

Inside, a run has its environment, folder and streams for as long as it takes. Only one can be under way, so other
threads fork. A server process imports the product once and forks a child for each run. The child has the environment,
the folder and the streams of its caller, and it can be killed, hang, or be one of eight. What neither has is a fresh
interpreter: a test of start-up, of a locale or of the interpreter's own options starts a real one.

The server is no descendant of the tests, so that its children at a terminal are the user's: where an agent runs the
tests, none of the agent's processes is above them.
"""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any
from unittest.mock import patch

ROOT = Path(__file__).parents[1]
COMMAND = (sys.executable, "-m", "unified_state.interfaces.cli.main")  # what is run as a command, with its arguments
_HOOK = (sys.executable, "-I", "-S", "-c")  # as its launcher does, with code that begins with one of these
_HOOK_CODE = ("# Starts a hook of unified-state.", "import gc,sys;")
_LEAVES_THREADS = {"sync", "server", "--team"}  # words of commands that ask a server
# Variables that an interpreter reads when it starts, and those of the loader: a forked process is past that.
_READ_AT_START = ("LANG", "LC_", "LD_", "PYTHON", "TZ")
_LARGEST_REQUEST = 1 << 20
_PRELOADED = """
unified_state unified_state.interfaces.cli.main unified_state.interfaces.cli.argument_parser
unified_state.interfaces.cli.command_context unified_state.interfaces.hook unified_state.interfaces.tool_hook
unified_state.state_file.manager unified_state.state_file.writer.record_state unified_state.capture.capture_transcript
unified_state.restore.compose_restore unified_state.secrets.masker unified_state.search.search_archive
unified_state.state_file.state_file unified_state.upkeep.around_use
unified_state.upkeep.doctor.diagnose unified_state.search.find unified_state.search.recall_ref
unified_state.hosts.install.install_claude_code unified_state.upkeep.forget.forget_refs
argparse asyncio ctypes hashlib json re shutil sqlite3 subprocess tempfile threading uuid zlib
jsonschema pydantic
"""


def is_forkable(command: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Whether a command line is one that the server runs in a fork as an interpreter would."""
    given = list(map(str, command))
    is_hook = given[:4] == [*_HOOK] and given[4].startswith(_HOOK_CODE)
    is_ours = tuple(given[: len(COMMAND)]) == COMMAND or is_hook
    same = all(
        environment.get(name) == os.environ.get(name)
        for name in {*environment, *os.environ}
        if name.startswith(_READ_AT_START)
    )
    return is_ours and same and hasattr(os, "fork")


def run_forked(
    command: Sequence[str], stdin: bytes, cwd: Path | None, environment: Mapping[str, str], seconds: float
) -> subprocess.CompletedProcess[bytes]:
    """Run such a command line. Raises TimeoutExpired when it takes longer."""
    with tempfile.TemporaryFile() as given:
        given.write(stdin)
        given.seek(0)
        out, err = os.pipe(), os.pipe()
        with start_forked(command, cwd, environment, (given.fileno(), out[1], err[1])) as asked:
            os.close(out[1])
            os.close(err[1])
            try:
                texts = _read_all((out[0], err[0]), time.monotonic() + seconds, command)
            finally:
                os.close(out[0])
                os.close(err[0])
            return subprocess.CompletedProcess(command, status_of(asked), *texts)


def run_briefly(
    command: Sequence[str], stdin: bytes, cwd: Path | None, environment: Mapping[str, str], seconds: float
) -> subprocess.CompletedProcess[bytes]:
    """Run such a command line inside this process, or forked where other threads may do the same or it leaves some."""
    if threading.current_thread() is threading.main_thread() and not _LEAVES_THREADS.intersection(command):
        return run_inside(command, stdin, cwd, environment)
    return run_forked(command, stdin, cwd, environment, seconds)


class _ExitError(BaseException):
    """A run inside this process would have ended it."""


def run_inside(
    command: Sequence[str], stdin: bytes, cwd: Path | None, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[bytes]:
    """Run such a command line in this process, which then is as it was before."""
    with contextlib.ExitStack() as after, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given, *told = (after.enter_context(tempfile.TemporaryFile()) for _ in range(3))
        given.write(stdin)
        given.seek(0)
        _restore_process(after)
        for number, file in enumerate((given, *told)):
            os.dup2(file.fileno(), number)
        if cwd is not None:
            os.chdir(cwd)
        os.environ.clear()
        os.environ.update(environment)
        streams, own = _open_streams(), os.getpid()
        code = _ended(list(map(str, command)))
        if os.getpid() != own:  # a hook went on behind its caller's back, and failed
            os._exit(code)
        for stream in streams:
            with contextlib.suppress(ValueError, OSError):
                stream.close()
        for file in told:
            file.seek(0)
        return subprocess.CompletedProcess(command, code, told[0].read(), told[1].read())


def _restore_process(after: contextlib.ExitStack) -> None:
    """Note what a run may change in this process, and put it back behind it."""
    own, end = os.getpid(), os._exit

    def leave(code: int) -> None:
        if os.getpid() != own:
            end(code)
        raise _ExitError(code)

    for number in (0, 1, 2):
        kept = os.dup(number)
        after.callback(os.close, kept)
        after.callback(os.dup2, kept, number)
    after.callback(os.chdir, os.getcwd())
    after.enter_context(patch.dict(os.environ))
    after.enter_context(patch.object(os, "_exit", leave))
    after.enter_context(patch.multiple(sys, argv=sys.argv, path=[*sys.path]))
    for name in ("stdin", "stdout", "stderr", "__stdin__", "__stdout__", "__stderr__"):
        after.enter_context(patch.object(sys, name, getattr(sys, name)))
    after.callback(faulthandler.cancel_dump_traceback_later)
    after.callback(gc.set_threshold, *gc.get_threshold())
    after.callback(signal.setitimer, signal.ITIMER_REAL, *signal.setitimer(signal.ITIMER_REAL, 0))
    after.callback(signal.signal, signal.SIGALRM, signal.getsignal(signal.SIGALRM))
    after.callback(signal.setitimer, signal.ITIMER_REAL, 0)


def run_ours(
    command: Sequence[str],
    cwd: Path | None,
    environment: Mapping[str, str] | None = None,
    stdin: str = "",
    seconds: float = 120,
) -> subprocess.CompletedProcess[str]:
    """Run a command line inside where that is the same as a process of its own, else in one. Return its texts."""
    variables = dict(os.environ) if environment is None else environment
    if is_forkable(command, variables):
        done = run_briefly(command, stdin.encode(), cwd, variables, seconds)
        return subprocess.CompletedProcess(command, done.returncode, done.stdout.decode(), done.stderr.decode())
    return subprocess.run(
        command, cwd=cwd, env=variables, input=stdin, capture_output=True, text=True, check=False, timeout=seconds
    )


def start_forked(
    command: Sequence[str],
    cwd: Path | None,
    environment: Mapping[str, str],
    streams: tuple[int, int, int],
    *,
    at_terminal: bool = False,
) -> socket.socket:
    """Start such a command line with these streams. Return the connection on which `status_of` waits for its end.

    With `at_terminal` the first stream becomes its controlling terminal.
    """
    request = {
        "command": list(map(str, command)),
        "cwd": None if cwd is None else str(cwd),
        "environment": dict(environment),
        "terminal": at_terminal,
    }
    asked = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    asked.connect(_server())
    body = json.dumps(request).encode("utf-8", "surrogateescape")
    socket.send_fds(asked, [f"{len(body):8}".encode()], list(streams))
    asked.sendall(body)
    return asked


def status_of(asked: socket.socket) -> int:
    """Wait for the end of a forked process and return its exit code; a negative one is the signal that killed it."""
    told = b""
    with asked:
        while data := asked.recv(64):
            told += data
    return int(told)


def _read_all(descriptors: tuple[int, int], until: float, command: Sequence[str]) -> tuple[bytes, bytes]:
    """Read two pipes to their ends."""
    texts = {descriptor: bytearray() for descriptor in descriptors}
    left = set(descriptors)
    while left:
        ready, _, _ = select.select(list(left), [], [], max(0.0, until - time.monotonic()))
        if not ready:
            raise subprocess.TimeoutExpired(list(command), 0)
        for descriptor in ready:
            data = os.read(descriptor, 1 << 16)
            texts[descriptor] += data
            if not data:
                left.remove(descriptor)
    first, second = (bytes(texts[descriptor]) for descriptor in descriptors)
    return first, second


_addresses: dict[int, str] = {}  # of this process's server


def _server() -> str:
    """Return the address of this process's server, started when it is first needed."""
    if os.getpid() not in _addresses:
        folder = tempfile.mkdtemp(prefix="unified-state-forks-")
        address = os.path.join(folder, "socket")
        reading, writing = os.pipe()
        subprocess.run(
            [sys.executable, "-m", "tests.fork_server", address, str(reading)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            pass_fds=[reading],
            check=True,
        )
        os.close(reading)  # the server ends when `writing` is closed, with this process at the latest
        os.set_inheritable(writing, False)
        _addresses[os.getpid()] = address
    return _addresses[os.getpid()]


class _Server:
    """Forks a child for each connection, and tells the connection how the child ended."""

    def __init__(self, listening: socket.socket, alive: int) -> None:
        self._listening, self._alive = listening, alive
        self._running: dict[int, socket.socket] = {}

    def serve(self) -> None:
        """Serve until the tests have ended."""
        woken, waking = os.pipe()
        os.set_blocking(waking, False)
        signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        while True:
            ready, _, _ = select.select([self._listening.fileno(), woken, self._alive], [], [])
            if woken in ready:
                os.read(woken, 4096)
                self._tell_ended()
            if self._listening.fileno() in ready:
                self._fork(woken, waking)
            if self._alive in ready:
                return

    def _tell_ended(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while True:
                child, status = os.waitpid(-1, os.WNOHANG)
                if not child:
                    return
                asked = self._running.pop(child)
                with contextlib.suppress(OSError):
                    asked.sendall(str(os.waitstatus_to_exitcode(status)).encode())
                asked.close()

    def _fork(self, *own: int) -> None:
        asked, _ = self._listening.accept()
        size, streams, _, _ = socket.recv_fds(asked, 8, 3)
        body = bytearray()
        while len(body) < int(size):
            body += asked.recv(min(_LARGEST_REQUEST, int(size) - len(body)))
        request = json.loads(body)
        child = os.fork()
        if child:
            self._running[child] = asked
            for descriptor in streams:
                os.close(descriptor)
            return
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for one in (asked, self._listening, *self._running.values()):
            one.close()
        for descriptor in (*own, self._alive):
            os.close(descriptor)
        _become(request, streams)


def _become(request: dict[str, Any], streams: list[int]) -> None:
    """Be the process that was asked for, and end as it does."""
    if request["terminal"]:
        import fcntl
        import termios

        os.setsid()
        fcntl.ioctl(streams[0], termios.TIOCSCTTY, 0)
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
        os.close(descriptor)
    if request["cwd"] is not None:
        os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    if home := os.environ.get("HOME"):
        os.environ["HOME"] = home
    opened = _open_streams()
    code = _ended(request["command"])
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads, as an interpreter does
    atexit._run_exitfuncs()
    for stream in opened:
        with contextlib.suppress(ValueError, OSError):
            stream.flush()
    if code == -signal.SIGINT:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(code)


def _open_streams() -> list[IO[Any]]:
    """Open the three standard streams on their descriptors."""
    streams: list[IO[Any]] = []
    for name, mode, number in (("stdin", "r", 0), ("stdout", "w", 1), ("stderr", "w", 2)):
        buffering = 1 if number == 2 or os.isatty(number) else -1
        errors = "backslashreplace" if number == 2 else "surrogateescape"
        stream = open(number, mode, buffering, "utf-8", errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
        streams.append(stream)
    return streams


def _ended(command: list[str]) -> int:
    """Run a command line in this process and return its exit code, as the interpreter would."""
    code: object = 0
    try:
        if tuple(command[: len(COMMAND)]) == COMMAND:
            from unified_state.interfaces.cli import main

            sys.argv = [str(main.__file__), *command[len(COMMAND) :]]
            main.main()
        else:
            sys.argv = ["-c", *command[5:]]
            exec(compile(command[4], "<string>", "exec"), {"__name__": "__main__"})
    except (SystemExit, _ExitError) as ended:
        code = ended.args[0] if ended.args else 0
    except KeyboardInterrupt:
        code = -signal.SIGINT
        traceback.print_exc()
    except BaseException:  # noqa: BLE001  # what an interpreter does with any error
        traceback.print_exc()
        code = 1
    if isinstance(code, str):
        os.write(2, f"{code}\n".encode())
        return 1
    return int(code) if isinstance(code, int) else 0


def _go_on_alone() -> None:
    """Leave the process that started this one."""
    if os.fork():
        os._exit(0)
    os.setsid()


def main() -> None:
    """Import the product, and serve at an address until a pipe is closed."""
    address, alive = sys.argv[1], int(sys.argv[2])
    for name in _PRELOADED.split():
        importlib.import_module(name)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening.bind(address)
    listening.listen(128)
    _go_on_alone()  # whoever waits for this process to end may connect now
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.collect()
    gc.freeze()
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    _Server(listening, alive).serve()
    with contextlib.suppress(OSError):
        os.unlink(address)
        os.rmdir(os.path.dirname(address))


if __name__ == "__main__":
    main()
