"""The status line: read the client's JSON and print one line, below the user's own status line if there is one.

It always exits with 0, because the client shows nothing of a failed one. The client runs it after every answer, so it
loads only what it needs: while a session's note is true (see `status_note`), not even `os`.
"""

from __future__ import annotations

import sys

from unified_state.context.window.rules.status_text import MOST_BYTES
from unified_state.context.window.status_note import draw, noted_line
from unified_state.lib.stdlib import parse_json, set_alarm, system
from unified_state.memory.spool.session_way import usual_data_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from unified_state.context.window.rules.context_text import StatusInput
    from unified_state.context.window.write_status_note import NoteWriter
    from unified_state.memory.repository.place import Place

_STDIN_SECONDS = 2.0
_CHUNK = 1 << 16


class _LateError(BaseException):
    """The client's input did not come to an end."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the status line for `[DATA_DIR] [REPLACED]` of the process's arguments, and exit the process."""
    data_dir, replaced, *_ = [*(sys.argv[1:] if arguments is None else arguments), "", ""]
    begin = bytearray()
    if replaced or not print_noted(data_dir or usual_data_dir(), begin):
        from unified_state.settings import default_data_dir

        run(data_dir or default_data_dir(), calls_other=True, replaced=replaced, begin=bytes(begin))
    system._exit(0)  # noqa: SLF001  # as `os` has it; skips the interpreter's teardown of 2 ms; everything is closed


def print_noted(data_dir: str, begin: bytearray) -> bool:
    """Print the status line by the session's note, and return whether it could. `begin` gets what was read of stdin."""
    try:
        event = None if system.isatty(0) else _given(begin)
        line = "" if event is None else noted_line(data_dir, event)
        if line:
            _write(f"{line}\n".encode("utf-8", "replace"))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError, _LateError):
        return False  # there is no note, or it is damaged: the archive is opened
    return bool(line)


def _given(begin: bytearray) -> dict[str, Any] | None:
    """Return the client's input, or None if it is no object or has no end yet."""
    set_alarm(_STDIN_SECONDS, _stop)
    try:
        while chunk := system.read(0, _CHUNK):
            begin += chunk
            if len(begin) > MOST_BYTES:
                return None
            if begin[-9:].rstrip().endswith(b"}"):
                try:
                    event = parse_json(begin.decode("utf-8", "replace"))
                except (ValueError, RecursionError):
                    continue  # the end of an inner object
                return event if isinstance(event, dict) else None
    finally:
        set_alarm(0, _ignore)
    return None


def _write(output: bytes) -> None:
    while output:
        output = output[system.write(1, output) :]


def _stop() -> None:
    raise _LateError


def _ignore() -> None:
    """Do nothing: the input was read."""


def run(data_dir: str, *, calls_other: bool = False, replaced: str = "", begin: bytes = b"") -> None:
    """Print our line. With `calls_other`, the user's own status line is above it, and may not call us again. `begin`
    was read of stdin already.
    """
    import os
    import time

    from unified_state.context.window.rules.context_text import parse_status
    from unified_state.interfaces.tool_hook import read_stdin
    from unified_state.memory.repository.place import locate
    from unified_state.settings import environment

    now = int(time.time() * 1000)
    other_lines: Callable[[], str] = str
    try:
        raw = b"" if sys.stdin.isatty() else read_stdin(sys.stdin.fileno(), _STDIN_SECONDS, begin)
        environ, given = environment(), parse_status(raw, now)
        place = locate(given.cwd if os.path.isdir(given.cwd) else os.getcwd(), data_dir, create=False)
        writer = _writer(given, place, data_dir, environ) if calls_other and not replaced else None
        other_lines = _start_other(raw, replaced, place, environ) if calls_other else str
        own = _own_line(given, place, data_dir, environ, now, writer if other_lines is str else None)
    except Exception as error:  # noqa: BLE001  # a bug is reported, and the other lines are still shown
        own = _logged(error, data_dir, now)
    output = "\n".join(filter(None, (other_lines(), own)))
    if output:
        sys.stdout.buffer.write(f"{output}\n".encode("utf-8", "replace"))  # independent of the locale
        sys.stdout.flush()


def _logged(error: Exception, data_dir: str, now: int) -> str:
    """Write a bug to the hooks' log, and return the text to show."""
    from traceback import format_exception

    from unified_state.memory.repository.health import log_problem

    problem = f"{type(error).__name__}: {error}"
    try:
        log_problem(data_dir, now, "statusline", problem, "".join(format_exception(error)))
    except OSError:
        return f"unified-state: {problem}; it could not be logged"
    return f"unified-state: {problem}; `unified-state doctor` tells more"


def _writer(given: StatusInput, place: Place, data_dir: str, environ: Mapping[str, str]) -> NoteWriter:
    from unified_state.agents.install.status_line_entry import status_line_files
    from unified_state.context.window.write_status_note import NoteWriter

    files = status_line_files(place.repository.worktree, environ)
    return NoteWriter(place, given.cwd, data_dir, given.session_id, files)


def _start_other(raw: bytes, replaced: str, place: Place, environ: Mapping[str, str]) -> Callable[[], str]:
    """Start the user's own status line, and return the function that returns its lines."""
    from unified_state.agents.install.status_line_entry import other_command

    command = other_command(replaced, place.repository.worktree, environ)
    if not command:
        return str
    from unified_state.agents.install.status_line_entry import OtherStatusLine  # most users have no other

    return OtherStatusLine(command, raw, environ).lines


def _own_line(
    given: StatusInput,
    place: Place,
    data_dir: str,
    environ: Mapping[str, str],
    now: int,
    writer: NoteWriter | None,
) -> str:
    """Return our line, or "" where the product is disabled. `writer` gets the figures from the archive."""
    import os

    from unified_state.context.window.read_context import keep_usage
    from unified_state.context.window.status_line_data import glance_at
    from unified_state.settings import load_hook_settings

    cache = os.path.join(place.folder, "settings.json")
    settings = load_hook_settings(place.repository.worktree, cache, data_dir, environ)
    if not settings.enabled:
        return ""
    if given.reading is not None and given.reading.tokens and given.session_id and os.path.isdir(place.folder):
        keep_usage(place.folder, given.session_id, given.reading)
    glance, figures = glance_at(place, settings, given.session_id, given.reading, now, environ)
    if writer is not None and figures is not None and settings.tier != "json":
        writer.write(figures)
    return draw(glance, environ.get)
