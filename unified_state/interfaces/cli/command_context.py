"""What every command is given: where it runs, what time it is, and how it speaks.

Data goes to stdout, as text or as one JSON value; messages for people go to stderr.
"""

from __future__ import annotations

import os
import sys

from unified_state.agents.transcripts.rules.hosts import AGENT_VARIABLES
from unified_state.errors import NotFoundError
from unified_state.lib.stdlib import dump_ascii_json, dump_json
from unified_state.lib.text import well_formed
from unified_state.memory.repository.place import locate
from unified_state.memory.workspace.open_workspace import open_workspace
from unified_state.memory.workspace.workspace import Workspace
from unified_state.model.constraint import INFERRED, USER_SAID
from unified_state.settings import environment, load_settings
from unified_state.upkeep.merge.merge_and_settle import merge_and_settle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from unified_state.memory.repository.place import Place
    from unified_state.settings import Settings
    from unified_state.team.sync_server import Server


SERVER = "server"  # as an argument names it


class Context:
    """One run of the command line."""

    def __init__(self, *, as_json: bool, session_id: str | None = None) -> None:
        self.as_json = as_json
        self.session_id = session_id
        self.folder = os.getcwd()

    def workspace(self, *, create: bool) -> Workspace:
        """The workspace of the current folder. Commands that only read do not create anything."""
        return open_workspace(
            self.folder,
            self.session_id,
            report=self.say,
            advise=self.say,
            origin=origin_of(environment()),
            create=create,
            around_use=merge_and_settle,
        )

    def reading(self) -> Workspace:
        """The workspace of the current folder, for a command that has nothing to do where nothing is archived."""
        workspace = self.workspace(create=False)
        if workspace.is_empty:
            message = "nothing is archived here yet"
            raise NotFoundError(message, "`unified-state install` begins, `unified-state ingest` takes in old sessions")
        return workspace

    def here(self, *, create: bool) -> tuple[Place, Settings]:
        """The place and settings of the current folder; settings that are wrong are for the command to show, and not
        refused.
        """
        data_dir = load_settings(None, environment()).data_dir
        place = locate(self.folder, data_dir, create=create)
        return place, load_settings(place.repository.worktree, environment())

    def check_may_take_away(self, place: Place, settings: Settings, deed: str) -> None:
        """Raises UsageError where a deed would end all rules that are in force, and is not for this caller to do."""
        from unified_state.constraints.compile_constraints import check_may_take_away

        origin = origin_of(environment())
        check_may_take_away(Workspace(place, settings, report=self.say, origin=origin), deed)

    def show(self, value: Any, text: str) -> None:
        """Print a result: the value as JSON where that was asked for, else the text."""
        if self.as_json:
            self.write(dump_ascii_json(value))
        elif text:
            self.write(text)

    def write(self, text: str) -> None:
        """Print to stdout."""
        sys.stdout.write(well_formed(text) + "\n")

    def write_line(self, value: Any) -> None:
        """Print one value as a line of JSON, readable where it can be."""
        line = dump_json(value)
        self.write(line if line == well_formed(line) else dump_ascii_json(value))

    def say(self, line: str) -> None:
        """Tell the person something, on stderr."""
        sys.stderr.write(f"unified-state: {well_formed(line)}\n")


def own_on_server(workspace: Workspace) -> Server:
    """What is one's own on the server, as a store."""
    from unified_state.team.team_server import team_server

    return team_server(workspace, environment(), own_only=True)


def origin_of(environ: Any) -> str:
    """Whose word a command is: an agent's, if one started the command, else the user's own."""
    return INFERRED if any(map(environ.get, AGENT_VARIABLES)) else USER_SAID
