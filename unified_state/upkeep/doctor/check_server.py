"""Whether what is archived reaches the servers it is replicated to."""

from __future__ import annotations

import os

from unified_state.errors import UnifiedStateError
from unified_state.memory.archive.archive import Archive
from unified_state.team.sync_server import ServerState, server_states
from unified_state.team.team_server import server_problem
from unified_state.upkeep.doctor.doctor_check import Check

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from unified_state.memory.repository.place import Place
    from unified_state.settings import Settings

_NAME = "server"


def check_servers(place: Place, settings: Settings, environ: Mapping[str, str]) -> Iterator[Check]:
    """One check for each server that this archive ever met; and one for a server that it has still to meet, or that
    cannot be one.
    """
    problem = server_problem(settings, environ)
    if problem is not None:
        yield Check(_NAME, ok=False, message=f"nothing is synced: {problem.message}", hint=problem.hint)
    if not os.path.exists(place.archive_path):
        return
    try:
        with Archive(place.archive_path) as archive:
            states = server_states(archive)
    except UnifiedStateError:
        return  # the check of the archive tells
    if settings.sync_in_background and not settings.postgres_enabled:
        yield Check(
            _NAME, ok=False, message="sync_in_background has no server", hint="set postgres_enabled and postgres_dsn"
        )
    is_named = settings.postgres_enabled and problem is None
    if is_named and not states:
        yield Check(_NAME, ok=True, message="nothing was sent yet; `unified-state sync` begins")
    newest = max((state.began_at or 0 for state in states), default=0)
    for state in states:
        is_in_use = is_named and (state.began_at or 0) == newest
        yield _check(state) if is_in_use else _left_behind(state)


def _check(state: ServerState) -> Check:
    waiting = state.waiting_steps + state.waiting_changes + state.waiting_vectors
    if state.error is None:
        message = f"{state.name}: {f'{waiting:,} wait' if waiting else 'has everything'}"
        return Check(_NAME, ok=True, message=message)
    message = f"{state.name}: {waiting:,} wait, {state.failures} runs failed: {state.error}"
    return Check(_NAME, ok=False, message=message, hint="nothing is lost; `unified-state sync` tries again")


def _left_behind(state: ServerState) -> Check:
    """Of a server that was in use. That it has what was forgotten since then is no fault, but the user's to know."""
    message = f"{state.name}: not in use any more"
    if state.waiting_forgotten:
        message += f", but it still has what was forgotten here since ({state.waiting_forgotten:,}): a sync under the "
        message += "settings and the `origin` of then takes it back"
    return Check(_NAME, ok=True, message=message)
