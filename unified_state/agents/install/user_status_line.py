"""A status line of the user's own runs beside ours, with the same input; its failure is not ours."""

from __future__ import annotations

import os
import time

from unified_state.lib.processes import Excerpt, Program, start_programs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from unified_state.lib.processes import Processes

_SECONDS = 3.0
_MOST_BYTES = 1 << 14  # of its output
_PIPE_BYTES = 1 << 16  # that a pipe holds; what is longer is no input of a status line
_SHELL = "/bin/sh" if os.name == "posix" else "sh"


class OtherStatusLine:
    """A status line that runs beside ours."""

    def __init__(self, command: str, stdin: bytes, environ: Mapping[str, str]) -> None:
        self._output = Excerpt(_MOST_BYTES)
        self._program = Program("status line", [_SHELL, "-c", command], self._output)
        self._processes = _start(self._program, stdin, environ)
        self._end = time.monotonic() + _SECONDS

    def lines(self) -> str:
        """What it printed; nothing where it failed or took too long."""
        if self._processes is not None:
            self._processes.finish(self._end)
        return self._output.content.decode("utf-8", "replace").rstrip() if self._program.exit_code == 0 else ""


def _start(program: Program, stdin: bytes, environ: Mapping[str, str]) -> Processes | None:
    """Start it with all of its input waiting in a pipe."""
    ours, theirs = os.pipe()
    try:
        try:
            os.write(theirs, stdin[:_PIPE_BYTES])
        finally:
            os.close(theirs)
        program.stdin = ours
        return start_programs([program], environ)
    except OSError:
        return None
    finally:
        os.close(ours)
