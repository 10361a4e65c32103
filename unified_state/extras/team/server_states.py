"""How far an archive is sent to each server, for who asks: nothing is sent, so what sends is not loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.lib.record import Record, disk_value
from unified_state.lib.text import counted
from unified_state.lib.times import age_text
from unified_state.project.workspace.workspace import Workspace


class ServerState(Record):
    """The sync state of a server.

    Times are in milliseconds since 1970: `began_at` and `ended_at` of the last run, `complete_at` when the server had
    everything, `waiting_since` of the oldest queued step. `waiting_forgotten` counts queued deletions of records that
    were forgotten here. `failures` counts the runs since the last successful one.
    """

    name: str
    waiting_steps: int
    waiting_changes: int
    waiting_since: int | None = None
    began_at: int | None = None
    ended_at: int | None = None
    complete_at: int | None = None
    failures: int = 0
    error: str | None = None
    waiting_forgotten: int = 0


def server_states(archive: Archive) -> list[ServerState]:
    """Return the states of all servers that this archive was ever sent to."""
    rows = archive.rows(
        "SELECT name, (SELECT coalesce(max(id), 0) FROM step) - step, "
        "(SELECT count(*) FROM outbox WHERE server = outbox_server.id), "
        "(SELECT at FROM step WHERE step.id > outbox_server.step ORDER BY step.id LIMIT 1), "
        "began_at, ended_at, complete_at, failures, error, "
        "(SELECT count(*) FROM outbox JOIN tombstone USING (what, key) "
        "WHERE server = outbox_server.id AND is_gone = 1) FROM outbox_server ORDER BY id"
    )
    return [ServerState(*row) for row in rows]


def status(
    archive: Archive, workspace: Workspace, now: int, environ: Mapping[str, str]
) -> tuple[list[str], dict[str, Any]]:
    """Return a line for each server, and one for a setting that keeps all from being synced; and their fields."""
    states, problem = server_states(archive), None
    if workspace.settings.postgres_enabled:
        from unified_state.extras.team.team_server import server_problem  # few have a server

        problem = server_problem(workspace.settings, environ)
    lines = [f"server     nothing is synced: {problem}"] if problem else []
    lines += [f"server     {server_line(state, now)}" for state in states]
    return lines, {"servers": disk_value(states), **({"serverProblem": str(problem)} if problem else {})}


def server_line(state: ServerState, now: int) -> str:
    """Return one line on the queue of a server and its last sync."""
    waits = {"step": state.waiting_steps, "change": state.waiting_changes}
    counts = [counted(count, name) for name, count in waits.items() if count]
    since = "" if state.waiting_since is None else f", the oldest of {age_text(now, state.waiting_since)}"
    waiting = f"{' and '.join(counts)} {'wait' if sum(waits.values()) != 1 else 'waits'}{since}"
    return f"{state.name}: {waiting if counts else 'has everything'}; {_last_sync(state, now)}"


def _last_sync(state: ServerState, now: int) -> str:
    began, ended = state.began_at, state.ended_at
    if began is None:
        return "never synced"
    if state.error is not None and ended is not None:
        failed = f"failed {age_text(now, ended)}: {state.error}"
        return failed if state.failures == 1 else f"{failed} ({state.failures} runs in a row)"
    if ended is None or ended < began:
        return f"a run began {age_text(now, began)} and has not ended"
    return f"synced {age_text(now, ended)}"
