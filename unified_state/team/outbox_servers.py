"""The servers that an archive is replicated to: how far each is, and how the last runs went."""

from __future__ import annotations

from unified_state.lib.record import Record
from unified_state.memory.archive.schema.outbox_triggers import note_everything

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.history.store_protocol import MarkStore


_FIRST_PAUSE, _LONGEST_PAUSE = 60_000, 3_600_000  # milliseconds between runs in the background that fail


class ServerState(Record):
    """How a server stands. Times are in milliseconds since 1970: `began_at` and `ended_at` of the last run,
    `complete_at` when the server had everything, `waiting_since` of the oldest step that waits. `waiting_forgotten`
    are those of the changes by which something leaves the server that was forgotten here. `failures` counts the runs
    since the last one that went well.
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
    """All servers that this archive was ever replicated to."""
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


def begin_run(archive: Archive, name: str, now: int) -> None:
    """A run begins. Until it has ended well it counts as a failure: it may be killed at any moment. Other servers that
    were never reached (a name was misspelt) are forgotten.
    """
    unreached = "SELECT id FROM outbox_server WHERE name != ? AND offered = 0 AND complete_at IS NULL"
    with archive.transaction(durable=False):
        for table in ("outbox", "outbox_session", "outbox_vectors"):
            archive.run(f"DELETE FROM {table} WHERE server IN ({unreached})", name)
        archive.run(f"DELETE FROM outbox_server WHERE id IN ({unreached})", name)
        archive.run("UPDATE outbox_server SET began_at = ?, failures = failures + 1 WHERE name = ?", now, name)


def end_run(archive: Archive, name: str, now: int, *, error: str | None = None, is_complete: bool = False) -> None:
    """The run has ended; without an error it went well."""
    with archive.transaction(durable=False):
        archive.run(
            "UPDATE outbox_server SET ended_at = ?1, error = ?2, "
            "failures = CASE WHEN ?2 IS NULL THEN 0 ELSE failures END, "
            "complete_at = CASE WHEN ?3 THEN ?1 ELSE complete_at END WHERE name = ?4",
            now,
            error,
            is_complete,
            name,
        )


def is_run_due(archive: Archive, now: int) -> bool:
    """Whether a run in the background is worth beginning: after failures the pauses double, up to an hour."""
    row = archive.row("SELECT failures, began_at FROM outbox_server ORDER BY began_at DESC LIMIT 1")
    if row is None or not row[0]:
        return True
    failures, began_at = row
    pause = min(_FIRST_PAUSE << min(failures - 1, 10), _LONGEST_PAUSE)
    return not began_at <= now < began_at + pause


class Mark:
    """The number of an archive, whose id is `replica`, on a server and here. A store without marks is never behind."""

    def __init__(self, archive: Archive, server: str, replica: str, store: MarkStore | None) -> None:
        self._archive, self._server, self._replica, self._store = archive, server, replica, store
        self._name = f"mark of {server}"
        self._there = 0 if store is None else store.read(replica)

    def begin_anew(self) -> bool:
        """Where the server is not as far as it was: let everything wait for it again. Whether it was so. Raises
        StorageError where it only follows another one: a standby.
        """
        archive = self._archive
        if self._store is None or self._there >= int(archive.meta(self._name) or 0):
            return False
        self._store.keep(self._replica, self._there)  # which no standby takes
        with archive.transaction():
            (server,) = archive.row("SELECT id FROM outbox_server WHERE name = ?", self._server)
            archive.run("DELETE FROM outbox_session WHERE server = ?", server)
            archive.run("UPDATE outbox_vectors SET position = 0 WHERE server = ?", server)
            archive.run("UPDATE outbox_server SET step = 0 WHERE id = ?", server)
            note_everything(archive, server)
            archive.set_meta(self._name, str(self._there))
        return True

    def up(self) -> None:
        """Note that the server has one batch more."""
        if self._store is not None:
            self._there += 1
            self._store.keep(self._replica, self._there)
            with self._archive.transaction(durable=False):
                self._archive.set_meta(self._name, str(self._there))
