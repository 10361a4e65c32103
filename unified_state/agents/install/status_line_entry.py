"""Our status line as a client's settings hold it: the value of `statusLine`.

What was there before stands, byte for byte, as the last argument of our own command, so that it is called beside ours
and comes back when ours goes, whatever happened to our own files.
"""

from __future__ import annotations

import os

from unified_state.agents.install.claude_settings import config_folder, parsed_settings, settings_in
from unified_state.agents.install.hook_interpreter import hook_interpreter
from unified_state.agents.install.hook_table import BEGIN
from unified_state.lib.package import PACKAGE_ROOT
from unified_state.lib.stdlib import dump_json, parse_json
from unified_state.settings import default_data_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


MODULE = "unified_state.interfaces.statusline"
_KEY = "statusLine"
_WORDS = 6  # of our command: interpreter, -I, -S, -c, code, data folder


def with_status_line(text: str, data_dir: str) -> str:
    """The settings with our status line, in place of the one that is there."""
    from unified_state.agents.install.json_edit import member_text, set_member

    replaced = member_text(text, _KEY)
    before = parse_json(replaced or "null")
    kept = before if isinstance(before, dict) else {}  # how it is laid out and refreshed
    value = {**kept, "type": "command", "command": _our_command(data_dir, replaced)}
    return set_member(text, _KEY, dump_json(value))


def without_status_line(text: str) -> tuple[bool, str]:
    """Whether the settings have our status line, and the settings with what was there before it."""
    from unified_state.agents.install.json_edit import member_text, remove_member, set_member

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

    code = f"{BEGIN}sys.path.append({PACKAGE_ROOT!r});from {MODULE} import main;main()"
    words = [hook_interpreter(), "-I", "-S", "-c", code, "" if data_dir == default_data_dir() else data_dir]
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
