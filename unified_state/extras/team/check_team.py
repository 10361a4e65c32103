"""Checks for `doctor`: the servers that this archive was sent to, and the settings of one."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from unified_state.extras.team.server_states import ServerState, server_states
from unified_state.extras.team.team_server import exposed_settings, server_problem
from unified_state.model.check import Check, bad, good
from unified_state.upkeep.doctor.diagnose import Subject


def checks(subject: Subject) -> Iterator[Check]:
    """Check each server that this archive was ever sent to, and a configured one that is new or unusable."""
    settings = subject.settings
    path = exposed_settings(settings)
    if path is not None:
        yield bad("settings", f"{path} has a password, and other users may read it", f"chmod 600 {shlex.quote(path)}")
    problem = server_problem(settings, subject.environ)
    if problem is not None:
        yield bad("server", f"nothing is synced: {problem.message}", problem.hint)
    states = subject.read(server_states)
    if states is None:
        return
    if settings.sync_in_background and not settings.postgres_enabled:
        yield bad("server", "sync_in_background has no server", "set postgres_enabled and postgres_dsn")
    is_named = settings.postgres_enabled and problem is None
    if is_named and not states:
        yield good("server", "nothing was sent yet; `unified-state server sync --on` begins")
    newest = max((state.began_at or 0 for state in states), default=0)
    for state in states:
        is_in_use = is_named and (state.began_at or 0) == newest
        yield _server(state) if is_in_use else _former_server(state)


def _server(state: ServerState) -> Check:
    waiting = state.waiting_steps + state.waiting_changes
    if state.error is None:
        return good("server", f"{state.name}: {f'{waiting:,} wait' if waiting else 'has everything'}")
    told = f"{state.name}: {waiting:,} wait, {state.failures} runs failed: {state.error}"
    return bad("server", told, "nothing is lost; `unified-state server sync` tries again")


def _former_server(state: ServerState) -> Check:
    """Check a server that is no longer in use. It may still have forgotten records. That is no fault, but the user must
    know.
    """
    message = f"{state.name}: not in use any more"
    if state.waiting_forgotten:
        message += f", but it still has what was forgotten here since ({state.waiting_forgotten:,}): a sync under the "
        message += "settings and the `origin` of then takes it back"
    return good("server", message)
