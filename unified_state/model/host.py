"""A coding agent other than Claude Code that calls our hooks: what it calls them, and what it lets them say."""

from __future__ import annotations

from unified_state.lib.record import Record
from unified_state.model.hook_event import HOST_MARK

# How the context that a hook adds is written.
NESTED, FLAT, SNAKE_CASE, FLAT_AND_NESTED = "nested", "flat", "snake case", "flat and nested"
# How a handler stands in the host's file: in groups as Claude Code's, as an entry of a list, or in a program of ours.
GROUPS, SHELL_LINES, COMMANDS, PLUGIN = "groups", "shell lines", "commands", "plugin"


class Host(Record):
    """One host. `events` gives for each of its events that we listen to the event of ours that it is.

    `timeout_unit` is how many of its units make a second. `context_events` are its events whose hooks may add context,
    `characters` how many one output may have. `says_compact`: it starts a session anew after a compaction; where it
    does not, what was lost is given back with the next of its context events. `transcript` names how its transcripts
    are read; None where only what its hooks tell is archived. `tried` is the version it was run with; empty where all
    is from its documents. `own_file`: its file holds nothing but ours. `options` is what else a handler needs in
    its file. `next_step` is what its users have to know or do once our hooks are in it. `shell_variable` is set in the
    environment of the commands that its agent runs, `session_variable` holds the session's id there; empty where none
    is known.
    """

    name: str
    title: str
    tried: str
    project_file: str
    user_file: str
    events: dict[str, str]
    context_events: tuple[str, ...]
    layout: str = GROUPS
    emitter: str = NESTED
    timeout_unit: int = 1
    characters: int = 9_900
    says_compact: bool = False
    transcript: str | None = None
    own_file: bool = False
    user_folder_variable: str = ""
    options: dict[str, int] = {}
    shell_variable: str = ""
    session_variable: str = ""
    next_step: str = ""

    def session_id(self, given: str) -> str:
        """The id under which a session of this host is kept: hosts do not know of each other's ids."""
        return f"{self.name}{HOST_MARK}{given}" if given else ""
