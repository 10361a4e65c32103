"""A person's screen: a command whose stdin, stdout and stderr are a pseudo-terminal of a size."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType

from tests.fork_server import COMMAND, is_forkable, run_ours, start_forked, status_of
from unified_state.hosts.transcripts.rules.hosts import AGENT_VARIABLES

PROGRAM = COMMAND


def person() -> dict[str, str]:
    """The environment of a person, whichever agent runs the tests."""
    dropped = {*AGENT_VARIABLES, "NO_COLOR", "PAGER", "LESS"}
    return {**{name: value for name, value in os.environ.items() if name not in dropped}, "TERM": "xterm-256color"}


def on_screen(
    *arguments: str,
    cwd: Path,
    variables: Mapping[str, str] = MappingProxyType({}),
    rows: int = 50,
    columns: int = 200,
    piped: bool = False,
) -> str:
    """All that a command shows on a screen. With `piped` its stdout goes elsewhere."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    environment: Mapping[str, str] = {**person(), **variables}
    command = [*PROGRAM, *arguments]
    with open(os.devnull, "wb") as null:
        streams = (theirs, null.fileno() if piped else theirs, theirs)
        if is_forkable(command, environment):
            asked = start_forked(command, cwd, environment, streams, at_terminal=True)
            status: Callable[[], int] = partial(status_of, asked)
        else:
            stdin, stdout, stderr = streams
            process = subprocess.Popen(
                command, cwd=cwd, env=environment, stdin=stdin, stdout=stdout, stderr=stderr, start_new_session=True
            )
            status = process.wait
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 65_536):
            shown += chunk
    except OSError:  # the other end is closed
        pass
    finally:
        os.close(ours)
        assert status() in {0, 1, 2}, shown
    return shown.decode().replace("\r\n", "\n")


def run(*arguments: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """A command whose outputs are pipes."""
    return run_ours([*PROGRAM, *arguments], cwd, {**person(), **variables})
