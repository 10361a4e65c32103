"""Our status line as a client's settings hold it (the value of `statusLine`), and the user's own beside it.

The user's value is the last argument of our own command, byte for byte. So it runs beside ours and comes back when ours
is removed, even if our own files are lost.
"""

from __future__ import annotations

import os
import time

from unified_state.agents.install.claude_settings import config_folder, parsed_settings, settings_in
from unified_state.agents.install.hook_table import command_words
from unified_state.lib.stdlib import dump_json, parse_json
from unified_state.settings import default_data_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from unified_state.lib.processes import Processes, Program

MODULE = "unified_state.interfaces.statusline"
_KEY = "statusLine"
_WORDS = 6  # of our command: interpreter, -I, -S, -c, code, data folder
_SECONDS = 3.0  # that the user's own may take
_MOST_BYTES = 1 << 14  # of its output
_PIPE_BYTES = 1 << 16  # that a pipe holds; longer input is no input of a status line
_SHELL = "/bin/sh" if os.name == "posix" else "sh"


def with_status_line(text: str, data_dir: str) -> str:
    """The settings with our status line, in place of the one that is there."""
    from unified_state.agents.install.settings_edit import member_text, set_member

    replaced = member_text(text, _KEY)
    before = parse_json(replaced or "null")
    kept = before if isinstance(before, dict) else {}  # how it is laid out and refreshed
    value = {**kept, "type": "command", "command": _our_command(data_dir, replaced)}
    return set_member(text, _KEY, dump_json(value))


def without_status_line(text: str) -> tuple[bool, str]:
    """Whether the settings have our status line, and the settings with what was there before it."""
    from unified_state.agents.install.settings_edit import member_text, remove_member, set_member

    value = parse_json(member_text(text, _KEY) or "null")
    if not is_our_status_line(value):
        return False, text
    replaced = replaced_status_line(value)
    return True, remove_member(text, _KEY) if replaced is None else set_member(text, _KEY, replaced)


def is_our_status_line(value: Any) -> bool:
    """Whether a `statusLine` is ours, of whatever version."""
    command = value.get("command") if isinstance(value, dict) else None
    return isinstance(command, str) and f"from {MODULE} import" in command


def replaced_status_line(value: dict[str, Any]) -> str | None:
    """The JSON of the status line that ours stands in place of, None where there was none."""
    from shlex import split

    try:
        words = split(value["command"])
    except ValueError:
        return None  # somebody has edited it
    return words[_WORDS] if len(words) > _WORDS else None


def _our_command(data_dir: str, replaced: str | None) -> str:
    from shlex import join

    words = [*command_words(MODULE), "" if data_dir == default_data_dir() else data_dir]
    assert len(words) == _WORDS  # noqa: S101  # what was replaced is found behind them
    return join(words if replaced is None else [*words, replaced])


def other_command(replaced: str, worktree: str, environ: Mapping[str, str]) -> str:
    """The command of the status line that the client would show if ours were not there; empty where there is none.

    `replaced` is the JSON of the one that ours stands in place of.
    """
    if replaced:
        return _command(parsed_settings(replaced))
    for path in _settings_files(worktree, environ):
        settings = settings_in(path)  # the client itself tells its user of settings that it cannot read
        value = settings.get("statusLine") if isinstance(settings, dict) else None
        if isinstance(value, dict) and is_our_status_line(value):
            value = parsed_settings(replaced_status_line(value) or "null")
        if command := _command(value):
            return command
    return ""


def _settings_files(worktree: str, environ: Mapping[str, str]) -> Sequence[str]:
    """The client's settings files, the most specific first."""
    folder = os.path.join(worktree, ".claude")
    shared = [os.path.join(holder, "settings.json") for holder in (folder, config_folder(environ))]
    return [os.path.join(folder, "settings.local.json"), *shared]


def _command(value: Any) -> str:
    command = value.get("command") if isinstance(value, dict) else None
    return command if isinstance(command, str) and "\0" not in command else ""


class OtherStatusLine:
    """A status line of the user's that runs beside ours, with the same input; its failure does not concern ours."""

    def __init__(self, command: str, stdin: bytes, environ: Mapping[str, str]) -> None:
        from unified_state.lib.processes import Excerpt, Program  # only where the user has a status line

        self._output = Excerpt(_MOST_BYTES)
        self._program = Program("status line", [_SHELL, "-c", command], self._output)
        self._processes = _start(self._program, stdin, environ)
        self._end = time.monotonic() + _SECONDS

    def lines(self) -> str:
        """Its output; empty where it failed or took too long."""
        if self._processes is not None:
            self._processes.finish(self._end)
        return self._output.content.decode("utf-8", "replace").rstrip() if self._program.exit_code == 0 else ""


def _start(program: Program, stdin: bytes, environ: Mapping[str, str]) -> Processes | None:
    """Start it with all of its input waiting in a pipe; None where that fails."""
    from unified_state.lib.processes import start_programs

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
