"""The status line: read the client's JSON and print one line, below the user's own status line if there is one.

It always exits with 0, because the client shows nothing of a failed one. The client runs it after every answer, so it
loads only what it needs: while a session's note is true (see `status_note`), not even `os`.
"""

from __future__ import annotations

import sys

from unified_state.context.window.rules.status_text import MOST_BYTES
from unified_state.context.window.status_note import draw, noted_line
from unified_state.lib.stdlib import LateError, parse_json, read_object, set_alarm, system
from unified_state.memory.spool.session_way import usual_data_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from unified_state.context.window.rules.context_text import StatusInput
    from unified_state.context.window.write_status_note import NoteWriter
    from unified_state.memory.repository.place import Place

_STDIN_SECONDS = 2.0


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the status line for `[DATA_DIR] [REPLACED]` of the process's arguments, and exit the process."""
    data_dir, replaced, *_ = [*(sys.argv[1:] if arguments is None else arguments), "", ""]
    begin = bytearray()
    if not print_noted(data_dir or usual_data_dir(), begin, replaced):
        from unified_state.settings import default_data_dir

        run(data_dir or default_data_dir(), calls_other=True, replaced=replaced, begin=bytes(begin))
    system._exit(0)  # noqa: SLF001  # as `os` has it; skips the interpreter's teardown of 2 ms; everything is closed


def print_noted(data_dir: str, begin: bytearray, replaced: str = "") -> bool:
    """Print the status line by the session's note, and return whether it could. `begin` gets what was read of stdin.

    Above it is the user's own status line, if ours replaced one.
    """
    try:
        event = _given(begin)
        line = "" if event is None else noted_line(data_dir, event, has_other=bool(replaced))
        if line:
            lines = (_other_lines(replaced, bytes(begin)), line) if replaced else (line,)
            _write("".join(f"{shown}\n" for shown in lines if shown).encode("utf-8", "replace"))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError, LateError):
        return False  # there is no note, or it is damaged: the archive is opened
    return bool(line)


def _given(begin: bytearray) -> dict[str, Any] | None:
    try:
        return None if system.isatty(0) else read_object(begin, MOST_BYTES, _STDIN_SECONDS)
    finally:
        set_alarm(0, _ignore)


def _ignore() -> None:
    """Do nothing: the input was read."""


def _other_lines(replaced: str, stdin: bytes) -> str:
    """Return the lines of the status line that ours replaced, of which `replaced` is the JSON."""
    value = parse_json(replaced)
    command = value.get("command") if isinstance(value, dict) else None
    if not isinstance(command, str) or not command or "\0" in command:
        return ""  # as `other_command` has it, which loads too much
    from unified_state.context.window.other_status_line import OtherStatusLine  # most users have no other

    return OtherStatusLine(command, stdin, system.environ).lines()


def _write(output: bytes) -> None:
    while output:
        output = output[system.write(1, output) :]


def run(data_dir: str, *, calls_other: bool = False, replaced: str = "", begin: bytes = b"") -> None:
    """Print our line. With `calls_other`, the user's own status line is above it, and may not call us again. `begin`
    was read of stdin already.
    """
    import time

    from unified_state.context.window.rules.context_text import parse_status
    from unified_state.interfaces.tool_hook import read_stdin
    from unified_state.memory.repository.place import locate
    from unified_state.memory.workspace.session_project import session_project
    from unified_state.settings import environment

    now = int(time.time() * 1000)
    other_lines: Callable[[], str] = str
    try:
        raw = b"" if sys.stdin.isatty() else read_stdin(sys.stdin.fileno(), _STDIN_SECONDS, begin)
        environ, given = environment(), parse_status(raw, now)
        place = locate(session_project(given, environ, data_dir), data_dir, create=False, shell=given.cwd)
        writer = _writer(given, place, data_dir, environ, has_other=bool(replaced)) if calls_other else None
        other_lines = _start_other(raw, replaced, place, environ) if calls_other else str
        has_note = bool(replaced) or other_lines is str  # a note does not name a command of other settings
        own = _own_line(given, place, data_dir, environ, now, writer if has_note else None)
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


def _writer(
    given: StatusInput, place: Place, data_dir: str, environ: Mapping[str, str], *, has_other: bool
) -> NoteWriter:
    from unified_state.agents.install.status_line_entry import status_line_files
    from unified_state.context.window.write_status_note import NoteWriter

    files = status_line_files(place.repository.worktree, environ)
    return NoteWriter(place, given.cwd, data_dir, given.session_id, files, has_other=has_other)


def _start_other(raw: bytes, replaced: str, place: Place, environ: Mapping[str, str]) -> Callable[[], str]:
    """Start the user's own status line, and return the function that returns its lines."""
    from unified_state.agents.install.status_line_entry import other_command

    command = other_command(replaced, place.repository.worktree, environ)
    if not command:
        return str
    from unified_state.context.window.other_status_line import OtherStatusLine  # most users have no other

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
    from unified_state.memory.repository.place import hook_settings

    settings = hook_settings(place, data_dir, environ)
    if not settings.enabled:
        return ""
    if given.reading is not None and given.reading.tokens and given.session_id and os.path.isdir(place.folder):
        keep_usage(place.folder, given.session_id, given.reading)
    glance, figures = glance_at(place, settings, given.session_id, given.reading, now, environ)
    if writer is not None and figures is not None and settings.tier != "json":
        writer.write(figures)
    return draw(glance, environ.get)
