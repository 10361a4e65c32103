"""What the core asks of the team's server: hits, what a colleague's ref names, and the user's own history there.

`is_own` means that the environment is the user's, as in `team_server`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unified_state.extras.team.recall_team import explain_of_team, recall_of_team
from unified_state.extras.team.search_team import find_in_team
from unified_state.extras.team.team_ref import is_team_ref
from unified_state.extras.team.team_server import TeamServer, team_server
from unified_state.model.refs import parse_ref
from unified_state.model.step import Hit
from unified_state.project.workspace.workspace import Workspace
from unified_state.search.find import Wanted
from unified_state.upkeep.history.history_file import write_history


def find(
    workspace: Workspace, wanted: Wanted, now: int, environ: Mapping[str, str], *, is_own: bool | None = None
) -> list[Hit]:
    """Return the best hits of this archive and of the server, in one list."""
    return find_in_team(workspace, team_server(workspace, environ, is_own=is_own, only_reads=True), wanted, now)


def recall(workspace: Workspace, ref: str, environ: Mapping[str, str], *, is_own: bool | None = None) -> dict[str, Any]:
    """Return what a ref of a colleague names. Raises UsageError if it is none."""
    return recall_of_team(_server(workspace, ref, environ, is_own), ref)


def explain(
    workspace: Workspace, ref: str, environ: Mapping[str, str], *, is_own: bool | None = None
) -> dict[str, Any]:
    """Return where an item of a colleague comes from. Raises UsageError if the ref is none of one."""
    return explain_of_team(_server(workspace, ref, environ, is_own), ref)


def _server(workspace: Workspace, ref: str, environ: Mapping[str, str], is_own: bool | None) -> TeamServer:
    if not is_team_ref(ref):
        parse_ref(ref)
    return team_server(workspace, environ, is_own=is_own, only_reads=True)


def export(workspace: Workspace, path: str, environ: Mapping[str, str]) -> int:
    """Write the user's own history on the server to a history file, and return the number of records.

    It has no seal, so it counts as the user's own only if they confirm that at the import.
    """
    server = team_server(workspace, environ)
    with server.open() as store:
        return write_history(path, server.project, store.own_records(), None)
