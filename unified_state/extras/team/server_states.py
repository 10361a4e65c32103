"""How far an archive is sent to each server, for who asks: nothing is sent, so what sends is not loaded."""

from __future__ import annotations

from unified_state.archive.archive import Archive
from unified_state.lib.record import Record


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
    waiting_vectors: int = 0
    waiting_forgotten: int = 0


def server_states(archive: Archive) -> list[ServerState]:
    """Return the states of all servers that this archive was ever sent to."""
    rows = archive.rows(
        "SELECT name, (SELECT coalesce(max(id), 0) FROM step) - step, "
        "(SELECT count(*) FROM outbox WHERE server = outbox_server.id), "
        "(SELECT at FROM step WHERE step.id > outbox_server.step ORDER BY step.id LIMIT 1), "
        "began_at, ended_at, complete_at, failures, error, "
        "(SELECT count(*) FROM outbox_vectors JOIN vector ON vector.model = outbox_vectors.model AND id > position "
        "WHERE server = outbox_server.id), (SELECT count(*) FROM outbox JOIN tombstone USING (what, key) "
        "WHERE server = outbox_server.id AND is_gone = 1) FROM outbox_server ORDER BY id"
    )
    return [ServerState(*row) for row in rows]
