"""The status line: read the client's JSON and print one line, below the user's own status line if there is one.

It always exits with 0, because the client shows nothing of a failed one. The client runs it after every answer.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from unified_state.context.read_context import keep_usage
from unified_state.context.rules.status_text import StatusFigures, StatusInput, parse_status, status_line
from unified_state.context.status_line_data import glance_at
from unified_state.interfaces.tool_hook import read_stdin
from unified_state.project.health import log_problem
from unified_state.project.place import Place, hook_settings, locate, session_project
from unified_state.settings import default_data_dir, environment

_STDIN_SECONDS = 2.0
_OTHER_SECONDS, _MOST_BYTES = 3.0, 1 << 14  # of the user's own status line
_MARGIN = 4  # columns that the client reserves
_USUAL_COLUMNS = 120


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the status line for `[DATA_DIR] [REPLACED]` of the process's arguments, and exit the process."""
    data_dir, replaced, *_ = [*(sys.argv[1:] if arguments is None else arguments), "", ""]
    run(data_dir or default_data_dir(), calls_other=True, replaced=replaced)
    os._exit(0)  # skips the interpreter's teardown of 2 ms; everything is closed


def run(data_dir: str, *, calls_other: bool = False, replaced: str = "") -> None:
    """Print our line. With `calls_other`, the user's own status line is above it, and may not call us again."""
    now = int(time.time() * 1000)
    other = ""
    try:
        raw = b"" if sys.stdin.isatty() else read_stdin(sys.stdin.fileno(), _STDIN_SECONDS)
        environ, given = environment(), parse_status(raw, now)
        project = session_project(given.session_id, environ, data_dir, given.cwd) or os.getcwd()
        place = locate(project, data_dir, create=False, shell=given.cwd)
        other = _other_lines(raw, replaced, place, environ) if calls_other else ""
        own = _own_line(given, place, data_dir, environ, now)
    except Exception as error:  # noqa: BLE001  # a bug is reported, and the other lines are still shown
        own = _logged(error, data_dir, now)
    output = "\n".join(filter(None, (other, own)))
    if output:
        sys.stdout.buffer.write(f"{output}\n".encode("utf-8", "replace"))  # independent of the locale
        sys.stdout.flush()


def _logged(error: Exception, data_dir: str, now: int) -> str:
    """Write a bug to the hooks' log, and return the text to show."""
    from traceback import format_exception

    problem = f"{type(error).__name__}: {error}"
    try:
        log_problem(data_dir, now, "statusline", problem, "".join(format_exception(error)))
    except OSError:
        return f"unified-state: {problem}; it could not be logged"
    return f"unified-state: {problem}; `unified-state doctor` tells more"


def _other_lines(raw: bytes, replaced: str, place: Place, environ: Mapping[str, str]) -> str:
    """Return the lines of the user's own status line for the same input, or "" if there is none or it failed."""
    from unified_state.hosts.install.status_line_entry import other_command

    command = other_command(replaced, place.repository.worktree, environ)
    if not command:
        return ""
    from tempfile import TemporaryFile  # most users have no other

    from unified_state.lib.processes import Excerpt, Processes, Program

    shown, shell = Excerpt(_MOST_BYTES), "sh" if sys.platform == "win32" else "/bin/sh"
    with suppress(OSError), TemporaryFile() as given:
        given.write(raw)
        given.seek(0)
        own = Program("status line", [shell, "-c", command], shown, given)
        Processes([own], environ).finish(time.monotonic() + _OTHER_SECONDS)
        return shown.content.decode("utf-8", "replace").rstrip() if own.exit_code == 0 else ""
    return ""


def _own_line(given: StatusInput, place: Place, data_dir: str, environ: Mapping[str, str], now: int) -> str:
    """Return our line, or "" where the product is disabled."""
    settings = hook_settings(place, data_dir, environ)
    if not settings.enabled:
        return ""
    if given.reading is not None and given.reading.tokens and given.session_id and os.path.isdir(place.folder):
        keep_usage(place.folder, given.session_id, given.reading)
    glance = glance_at(place, settings, given.session_id, given.reading, now, environ)
    return _drawn(glance, environ)


def _drawn(glance: StatusFigures, environ: Mapping[str, str]) -> str:
    """Return the status line for the terminal of an environment."""
    columns = environ.get("COLUMNS", "")
    width = int(columns) - _MARGIN if columns.isascii() and columns.isdigit() else _USUAL_COLUMNS
    return status_line(glance, width, colour=not environ.get("NO_COLOR") and environ.get("TERM") != "dumb")
