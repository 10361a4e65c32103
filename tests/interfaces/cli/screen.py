"""A person's screen: a command whose stdin, stdout and stderr are a pseudo-terminal of a size."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from unified_state.agents.transcripts.rules.hosts import AGENT_VARIABLES

PROGRAM = (sys.executable, "-m", "unified_state.interfaces.cli.main")


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
    stdout = subprocess.DEVNULL if piped else theirs
    process = subprocess.Popen(
        [*PROGRAM, *arguments],
        cwd=cwd,
        env=environment,
        stdin=theirs,
        stdout=stdout,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 65_536):
            shown += chunk
    except OSError:  # the other end is closed
        pass
    finally:
        os.close(ours)
        assert process.wait(60) in {0, 1, 2}, shown
    return shown.decode().replace("\r\n", "\n")


def run(*arguments: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """A command whose outputs are pipes."""
    return subprocess.run(
        [*PROGRAM, *arguments], cwd=cwd, env={**person(), **variables}, capture_output=True, text=True, check=False
    )
