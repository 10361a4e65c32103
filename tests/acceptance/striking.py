"""Processes that are killed, or held still, at a chosen point of their work.

Python tells an audit hook (PEP 578) before it opens, renames, links or removes a file, and before and after it connects
to a database; the n-th of those calls that touches the project or the data of a test is a point that can be named, so
that every one of them can be tried.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_SIGNALS = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP}

_STRIKE = """
import os, sys
def strike(event, arguments, left=[{point}]):
    touches = event.split(".")[0] in ("open", "os", "sqlite3") and any({root!r} in str(one) for one in arguments)
    if touches or event == "sqlite3.connect/handle":
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), {signal})
sys.addaudithook(strike)
"""
_COMMAND = "from unified_state.interfaces.cli.main import main\nmain(sys.argv[1:])\n"


def command_struck_at(point: int, root: Path, *arguments: str, how: str = "kill") -> list[str]:
    """The command line of ours with these arguments that is struck at its n-th touch of what lies below `root`."""
    return [sys.executable, "-c", _code(point, root, how) + _COMMAND, *arguments]


def hook_struck_at(point: int, root: Path, command: Sequence[str], how: str = "kill") -> list[str]:
    """The same of an installed hook's command line."""
    at = command.index("-c") + 1
    return [*command[:at], _code(point, root, how) + command[at], *command[at + 1 :]]


def run_struck(command: Sequence[str], folder: Path, stdin: bytes = b"") -> int:
    """Run such a command; its exit status, negative where it was killed."""
    return subprocess.run(command, cwd=folder, input=stdin, capture_output=True, check=False).returncode


def is_stopped(pid: int) -> bool:
    """Whether our child stands still; False when it has ended."""
    _, status = os.waitpid(pid, os.WUNTRACED)
    return os.WIFSTOPPED(status)


def _code(point: int, root: Path, how: str) -> str:
    return _STRIKE.format(point=point, root=str(root), signal=int(_SIGNALS[how]))
