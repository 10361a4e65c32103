"""The status line that the user had before ours, or that ours hides: it is called with the same input, and its failure
is not ours.

One that ours replaced in the same settings file stands, as it was, in our own command line; one in a less specific
file is found there each time.
"""

from __future__ import annotations

import os
import time

from unified_state.interpreter import parse_json
from unified_state.services.status_line_table import is_our_status_line, replaced_status_line
from unified_state.sources.processes import Excerpt, Program, start_programs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from unified_state.sources.processes import Processes

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


def other_command(replaced: str, worktree: str, environ: Mapping[str, str]) -> str:
    """The command of the status line that the client would show if ours were not there; empty where there is none.

    `replaced` is the JSON of the one that ours stands in place of.
    """
    if replaced:
        return _command(_parsed(replaced))
    for path in _settings_files(worktree, environ):
        try:
            with open(path, encoding="utf-8-sig") as file:
                settings = _parsed(file.read())
        except (OSError, ValueError):
            continue
        value = settings.get("statusLine") if isinstance(settings, dict) else None
        if isinstance(value, dict) and is_our_status_line(value):
            value = _parsed(replaced_status_line(value) or "null")
        if command := _command(value):
            return command
    return ""


def _settings_files(worktree: str, environ: Mapping[str, str]) -> Sequence[str]:
    """The client's settings files, the most specific first."""
    folder = os.path.join(worktree, ".claude")
    own = environ.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude")
    return [os.path.join(folder, "settings.local.json"), *(os.path.join(f, "settings.json") for f in (folder, own))]


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


def _parsed(text: str) -> Any:
    try:
        return parse_json(text)
    except (ValueError, RecursionError):
        return None


def _command(value: Any) -> str:
    command = value.get("command") if isinstance(value, dict) else None
    return command if isinstance(command, str) and "\0" not in command else ""
