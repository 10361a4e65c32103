"""Reminders: recorded facts about a tool call, which a hook adds to that call."""

from __future__ import annotations

from unified_state.lib.record import Record

SHELL_TOOL = "Bash"
EDITING_TOOLS = ("Edit", "MultiEdit", "NotebookEdit", "Write")


class Reminder(Record):
    """One recorded fact and the calls that it is about.

    `text` is the line for the model. `session` is the id of the session whose conversation still contains the fact, or
    "". A reminder before an edit has the `files` that the fact names, relative to the worktree. A reminder before a
    command has the `root` in which the command failed, the beginning of its key, and the `digest` of the whole key.
    """

    ref: str
    text: str
    session: str = ""
    files: tuple[str, ...] = ()
    root: str = ""
    begin: str = ""
    digest: str = ""


class Reminders(Record):
    """All reminders of a repository."""

    commands: tuple[Reminder, ...] = ()
    files: tuple[Reminder, ...] = ()
