"""Several processes that do the same at the same moment."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
_WAIT = "import sys; sys.path.insert(0, sys.argv.pop(1)); print('ready', flush=True); sys.stdin.readline()\n"


def start(code: str, *arguments: str) -> subprocess.Popen[str]:
    """A process that runs the code, with the arguments in `sys.argv[1:]`, once a line is written to its stdin."""
    process = subprocess.Popen(
        [sys.executable, "-c", code.replace("# go\n", _WAIT, 1), str(ROOT), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def run_at_once(code: str, argument_lists: Sequence[Sequence[str]]) -> list[str]:
    """What each of several processes prints; all begin at once what stands behind the line `# go`."""
    processes = [start(code, *arguments) for arguments in argument_lists]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    printed = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes)
    return printed
