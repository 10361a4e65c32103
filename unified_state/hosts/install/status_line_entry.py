"""Our status line in a client's settings (`statusLine`), and the user's status line that runs next to it.

The user's value is stored as the last argument of our command. So it runs next to ours, and removal restores
it even if our own files are lost.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from shlex import join, split
from typing import Any

from unified_state.hosts.install.claude_settings import config_folder, parsed_settings, settings_in
from unified_state.hosts.install.hook_launcher import launcher_path
from unified_state.hosts.install.hook_table import is_launcher
from unified_state.hosts.install.settings_edit import Settings
from unified_state.hosts.transcripts.transcript_lines import object_in, text_in
from unified_state.lib.json_text import dump_json, parse_json
from unified_state.model.hook_event import STATUS_WORD
from unified_state.settings import default_data_dir

_KEY = "statusLine"
_WORDS = 3  # of our command: launcher, word, data folder


def with_status_line(settings: Settings, data_dir: str) -> Settings:
    """Return the settings with our status line in place of an existing one."""
    replaced = dump_json(settings[_KEY]) if _KEY in settings else None
    before = settings.get(_KEY)
    kept = before if isinstance(before, dict) else {}  # layout and refresh options stay
    return {**settings, _KEY: {**kept, "type": "command", "command": _our_command(data_dir, replaced)}}


def without_status_line(settings: Settings) -> tuple[bool, Settings]:
    """Return whether the settings have our status line, and the settings with the value that it replaced."""
    value = settings.get(_KEY)
    if not is_our_status_line(value):
        return False, settings
    replaced = replaced_status_line(value or {})
    if replaced is None:
        return True, {name: other for name, other in settings.items() if name != _KEY}
    return True, {**settings, _KEY: parse_json(replaced)}


def is_our_status_line(value: Any) -> bool:
    """Return whether a `statusLine` is ours."""
    words = _words_of(value)
    return len(words) >= _WORDS and is_launcher(words[0]) and words[1] == STATUS_WORD


def replaced_status_line(value: dict[str, Any]) -> str | None:
    """Return the JSON of the status line that ours replaced, or None if there was none."""
    return next(iter(_words_of(value)[_WORDS:]), None)


def _words_of(value: Any) -> list[str]:
    """Return the words of a status line's command; none of one that was edited by hand and is no shell's."""
    command = value.get("command") if isinstance(value, dict) else None
    try:
        return split(command) if isinstance(command, str) else []
    except ValueError:
        return []


def _our_command(data_dir: str, replaced: str | None) -> str:
    words = [launcher_path(), STATUS_WORD, "" if data_dir == default_data_dir() else data_dir]
    return join(words if replaced is None else [*words, replaced])


def other_command(replaced: str, worktree: str, environ: Mapping[str, str]) -> str:
    """Return the command of the status line that the client would show without ours, or "".

    `replaced` is the JSON of the status line that ours replaced.
    """
    if replaced:
        return _command(parsed_settings(replaced))
    folder = os.path.join(worktree, ".claude")
    for path in (
        os.path.join(folder, "settings.local.json"),
        os.path.join(folder, "settings.json"),
        os.path.join(config_folder(environ), "settings.json"),
    ):
        value = object_in(settings_in(path), _KEY)  # the client itself reports settings that it cannot read
        if is_our_status_line(value):
            value = parsed_settings(replaced_status_line(value) or "")
        if command := _command(value):
            return command
    return ""


def _command(value: dict[str, Any]) -> str:
    command = text_in(value, "command")
    return "" if "\0" in command else command
