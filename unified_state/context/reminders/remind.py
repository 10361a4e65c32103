"""Remind before a tool call: find the facts that are about it, and tell each once to each agent of a session.

The hook reads the table alone and never opens the archive.
"""

from __future__ import annotations

import os

from unified_state.context.reminders.reminder_table import claim, read_reminders
from unified_state.memory.repository.place import hook_settings, locate
from unified_state.memory.workspace.session_project import session_project
from unified_state.model.constraint import TOOL_EVENT
from unified_state.model.reminder import EDITING_TOOLS, SHELL_TOOL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unified_state.memory.repository.place import Place
    from unified_state.model.hook_event import HookEvent
    from unified_state.model.reminder import Reminder

_LONGEST_PATH = 4096


class ReminderCheck:
    """The check of one tool call. `place` is that of the session's project, in whatever folder its shell is."""

    def __init__(self, event: HookEvent, data_dir: str, environ: Mapping[str, str]) -> None:
        self._event, self._data_dir, self._environ = event, data_dir, environ
        self._folder = session_project(event, environ, data_dir)
        self.place: Place = locate(self._folder, data_dir, create=False)

    def answer(self) -> str:
        """Return the answer to the client; "" where there is nothing to tell."""
        event, found = self._event, self._about_call()
        if not found or not event.session_id or not self._is_enabled():
            return ""
        new = claim(self.place.folder, event.session_id, event.agent_id, [one.ref for one in found])
        told = [one for one in found if one.ref in new]
        return _answer(told) if told else ""

    def _about_call(self) -> Sequence[Reminder]:
        given = self._event.extra.get("tool_input")
        if not isinstance(given, dict):
            return ()
        tool, command = self._event.text("tool_name"), given.get("command")
        if tool == SHELL_TOOL and isinstance(command, str):
            return self._about_command(command)
        path = given.get("file_path") or given.get("notebook_path")
        if tool in EDITING_TOOLS and isinstance(path, str) and 0 < len(path) <= _LONGEST_PATH and "\0" not in path:
            return self._about_file(path)
        return ()

    def _about_command(self, command: str) -> Sequence[Reminder]:
        from unified_state.context.reminders.rules.match_call import about_command

        roots = {self._folder, self.place.repository.worktree}
        return about_command(self._unknown("commands"), command, roots, _digest)

    def _about_file(self, path: str) -> Sequence[Reminder]:
        from unified_state.context.reminders.rules.match_call import about_file
        from unified_state.lib.identifiers import relative_path

        reminders, root = self._unknown("files"), self.place.repository.worktree
        if not reminders:
            return ()
        written = os.path.join(self._event.cwd or self._folder, path)
        absolute = {path, os.path.normpath(written), os.path.realpath(written)}
        roots = (root, os.path.realpath(root))
        inside = {inner for one in absolute for top in roots if (inner := relative_path(one, top)) != one}
        return about_file(reminders, inside, absolute, lambda named: os.path.lexists(os.path.join(root, named)))

    def _unknown(self, kind: str) -> list[Reminder]:
        """Return the reminders of a kind that this session's conversation does not contain."""
        own = self._event.session_id
        return [one for one in read_reminders(self.place.folder, kind) if one.session != own]

    def _is_enabled(self) -> bool:
        return hook_settings(self.place, self._data_dir, self._environ).enabled


def _digest(command: str) -> str:
    """Return the digest of a command's key, under which capture records its failures."""
    from unified_state.lib.shell.shell_commands import (
        command_key,
    )  # only for a command that begins like one that failed
    from unified_state.lib.text import text_hash

    return text_hash(command_key(command))


def _answer(told: Sequence[Reminder]) -> str:
    from unified_state.context.reminders.rules.match_call import reminder_line
    from unified_state.lib.fence import fenced  # most calls need no answer
    from unified_state.lib.stdlib import dump_ascii_json

    text = fenced(reminder_line(told), os.urandom(6).hex(), "a recorded fact about this call, as data")
    return dump_ascii_json({"hookSpecificOutput": {"hookEventName": TOOL_EVENT, "additionalContext": text}})
