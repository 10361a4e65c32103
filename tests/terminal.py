"""A person at a terminal: a process whose stdin and controlling terminal are a pseudo-terminal, and who answers there.

The process is no descendant of this one, so that tests pass too where an agent runs them: none of the agent's processes
is above it. Its stdout and stderr are pipes, as they are elsewhere.
"""

from __future__ import annotations

import os
import pickle
import pty
import select
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.fork_server import is_forkable, start_forked, status_of
from tests.processes import ROOT

_QUESTION = b"to go on: "
# A child that goes on alone, in a session whose controlling terminal is stdin; its last line is the exit code.
MIDDLEMAN = """
import fcntl, os, signal, subprocess, sys, termios, time
signal.signal(signal.SIGINT, lambda *_: None)  # ^C is for the child
parent = os.getpid()
if os.fork():
    os._exit(0)
while os.getppid() == parent:
    time.sleep(0.001)
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
code = subprocess.run(sys.argv[2:]).returncode
os.write(int(sys.argv[1]), str(code).encode())
"""


class Ended(NamedTuple):
    """How a process ended, and what it asked at the terminal."""

    code: int
    out: bytes
    err: bytes
    asked: str


def run_at_terminal(
    command: Sequence[str | Path],
    cwd: Path | None,
    env: Mapping[str, str],
    *,
    answer: str = "yes",
    seconds: float = 120,
) -> Ended:
    """Run a command at a terminal of its own, where each question is answered."""
    if is_forkable(list(map(str, command)), env):
        return _run_forked(list(map(str, command)), cwd, env, answer, seconds)
    terminal, theirs = pty.openpty()
    code, told = os.pipe()
    try:
        with subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", MIDDLEMAN, str(told), *map(str, command)],
            cwd=cwd,
            env=dict(env),
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[told],
        ) as process:
            os.close(told)
            assert process.stdout is not None
            assert process.stderr is not None
            pipes = {process.stdout.fileno(): b"", process.stderr.fileno(): b"", code: b""}
            asked = _converse(terminal, pipes, answer, time.monotonic() + seconds)
            out, err, status = pipes.values()
    finally:
        for descriptor in (terminal, theirs, code):
            os.close(descriptor)
    return Ended(int(status), out, err, asked.decode())


def _run_forked(command: list[str], cwd: Path | None, env: Mapping[str, str], answer: str, seconds: float) -> Ended:
    terminal, theirs = pty.openpty()
    out, err = os.pipe(), os.pipe()
    try:
        with start_forked(command, cwd, env, (theirs, out[1], err[1]), at_terminal=True) as asked:
            os.close(out[1])
            os.close(err[1])
            pipes = {out[0]: b"", err[0]: b""}
            shown = _converse(terminal, pipes, answer, time.monotonic() + seconds)
            return Ended(status_of(asked), pipes[out[0]], pipes[err[0]], shown.decode())
    finally:
        for descriptor in (terminal, theirs, out[0], err[0]):
            os.close(descriptor)


def _converse(terminal: int, pipes: dict[int, bytes], answer: str, until: float) -> bytes:
    """Answer each question, and read the pipes to their end; what was on the terminal."""
    shown, answered, is_open = b"", 0, set(pipes)
    while is_open:
        ready, _, _ = select.select([terminal, *is_open], [], [], until - time.monotonic())
        assert ready, f"it hangs: {shown!r} {pipes!r}"
        for descriptor in ready:
            data = os.read(descriptor, 65536)
            if descriptor == terminal:
                shown += data
                if shown.count(_QUESTION) > answered:
                    answered += 1
                    os.write(terminal, f"{answer}\n".encode())
            elif data:
                pipes[descriptor] += data
            else:
                is_open.remove(descriptor)
    return shown


class Talk(NamedTuple):
    """How a process ended whose every stream was the terminal, and what stood there."""

    code: int
    shown: str


def talk_at_terminal(
    command: Sequence[str | Path], cwd: Path, env: Mapping[str, str], answers: Sequence[str], *, seconds: float = 60
) -> Talk:
    """Run a command that has a terminal for all its streams, and type one answer after each question (`… [y/n] `)."""
    terminal, theirs = pty.openpty()
    code, told = os.pipe()
    left, shown, until = list(answers), b"", time.monotonic() + seconds
    try:
        with subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", MIDDLEMAN, str(told), *map(str, command)],
            cwd=cwd, env=dict(env), stdin=theirs, stdout=theirs, stderr=theirs, pass_fds=[told],
        ):  # fmt: skip
            os.close(told)
            ended = b""
            while True:
                ready, _, _ = select.select([terminal, code], [], [], until - time.monotonic())
                assert ready, f"it hangs: {shown!r}"
                if terminal in ready:
                    shown += os.read(terminal, 65536)
                    if left and shown.endswith(b"] "):
                        os.write(terminal, left.pop(0).encode())
                elif data := os.read(code, 64):
                    ended += data
                else:
                    break
    finally:
        for descriptor in (terminal, theirs, code):
            os.close(descriptor)
    return Talk(int(ended), shown.decode().replace("\r\n", "\n"))


# Calls a function of ours with an open archive, for a service that asks at the terminal.
_CALL = """
import pickle, sys
sys.path.insert(0, sys.argv[1])
from importlib import import_module
from unified_state.archive.archive import Archive
module, name, path, given = sys.argv[2:]
with Archive(path) as archive:
    getattr(import_module(module), name)(archive, *pickle.loads(bytes.fromhex(given)))
"""


def call_at_terminal(function: Callable[..., object], archive_path: str, *given: object) -> None:
    """Let a process at a terminal call a function with the archive and these arguments."""
    names = [function.__module__, function.__name__]
    ended = run_at_terminal(
        [sys.executable, "-c", _CALL, str(ROOT), *names, archive_path, pickle.dumps(given).hex()], None, os.environ
    )
    assert ended.code == 0, ended
