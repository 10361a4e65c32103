"""The user's own status line, which runs next to ours."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping

from unified_state.lib.processes import Excerpt, Processes, Program

_SECONDS = 3.0  # timeout of the user's status line
_MOST_BYTES = 1 << 14  # limit of its output
_PIPE_BYTES = 1 << 16  # capacity of a pipe; the input of a status line is never longer
_SHELL = "sh" if sys.platform == "win32" else "/bin/sh"


class OtherStatusLine:
    """The user's own status line, run next to ours with the same input. Its failure does not affect ours."""

    def __init__(self, command: str, stdin: bytes, environ: Mapping[str, str]) -> None:
        self._output = Excerpt(_MOST_BYTES)
        self._program = Program("status line", [_SHELL, "-c", command], self._output)
        self._processes = _start(self._program, stdin, environ)
        self._end = time.monotonic() + _SECONDS

    def lines(self) -> str:
        """Return the output of the command, or "" if it failed or timed out."""
        if self._processes is not None:
            self._processes.finish(self._end)
        return self._output.content.decode("utf-8", "replace").rstrip() if self._program.exit_code == 0 else ""


def _start(program: Program, stdin: bytes, environ: Mapping[str, str]) -> Processes | None:
    """Start the program with all of its input in a pipe. Return None if that fails."""
    ours, theirs = os.pipe()
    try:
        try:
            os.write(theirs, stdin[:_PIPE_BYTES])
        finally:
            os.close(theirs)
        program.stdin = ours
        return Processes([program], environ)
    except OSError:
        return None
    finally:
        os.close(ours)
