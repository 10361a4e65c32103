"""Status: what is recorded for a place, in numbers."""

from __future__ import annotations

import os

from unified_state.records.record import Record
from unified_state.services.health import health_line
from unified_state.services.team_server import server_problem
from unified_state.storage.outbox_servers import ServerState, server_states
from unified_state.storage.sessions import STAND_IN
from unified_state.storage.shortened import Savings, read_savings
from unified_state.storage.vector_models import VectorCount, vector_counts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from unified_state.services.workspace import Workspace
    from unified_state.storage.archive import Archive


class Status(Record):
    """The numbers of one repository. Sizes are in bytes, times in milliseconds since 1970. `server_problem` says why
    nothing can be synced to the server that is configured now.
    """

    repository: str
    worktree: str
    archive_path: str
    state_path: str
    archive_bytes: int
    sessions: int
    turns: int
    steps: int
    compactions: int
    items: dict[str, dict[str, int]]
    paged_out: int
    newest_step_at: int | None
    saved_at: str | None
    health: str | None
    lean: Savings
    vectors: tuple[VectorCount, ...]
    copied_from: str | None = None
    servers: tuple[ServerState, ...] = ()
    server_problem: str | None = None


def read_status(workspace: Workspace, now: int, environ: Mapping[str, str]) -> Status:
    """The status of a workspace whose archive exists."""
    problem = server_problem(workspace.settings, environ)

    def action(archive: Archive) -> Status:
        counts: dict[str, dict[str, int]] = {}
        outside = 0
        for kind, status, count, paged_out in archive.rows(
            "SELECT kind, status, count(*), count(paged_out_at) FROM item GROUP BY kind, status ORDER BY min(id)"
        ):
            counts.setdefault(kind, {})[status] = count
            outside += paged_out
        # Rows stay of what was forgotten or pruned, and stand in for what a damage took: they hold nothing.
        steps, turns = archive.row("SELECT count(*), count(DISTINCT turn) FROM step WHERE kind NOT NULL")
        place = workspace.place
        saved = archive.row("SELECT at FROM saved WHERE state_path = ?", place.state_path)
        return Status(
            repository=place.id or "",
            worktree=place.repository.worktree,
            archive_path=place.archive_path,
            state_path=place.state_path,
            archive_bytes=os.path.getsize(place.archive_path),
            sessions=archive.row("SELECT count(*) FROM session WHERE session_id != ?", STAND_IN)[0],
            turns=turns,
            steps=steps,
            compactions=archive.row("SELECT count(*) FROM compaction WHERE boundary_uuid IS NOT ?", STAND_IN)[0],
            items=counts,
            paged_out=outside,
            newest_step_at=archive.row("SELECT max(seen_at) FROM session")[0],
            saved_at=saved[0] if saved else None,
            health=health_line(place.folder, now),
            lean=read_savings(archive),
            vectors=vector_counts(archive),
            copied_from=place.copied_from,
            servers=tuple(server_states(archive)),
            server_problem=None if problem is None else str(problem),
        )

    return workspace.use(action)
