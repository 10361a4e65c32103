"""The status line that the user had before ours, or that ours hides.

One that ours replaced in the same settings file stands, as it was, in our own command line; one in a less specific
file is found there each time.
"""

from __future__ import annotations

import os

from unified_state.agents.install.claude_settings import config_folder, parsed_settings, settings_in
from unified_state.agents.install.status_line_entry import is_our_status_line, replaced_status_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


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
