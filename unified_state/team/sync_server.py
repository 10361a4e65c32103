"""Sync: send what is new in an archive to a server, in batches, each of which is settled when the server has it.

One run at a time works on an archive. A run may be killed at any moment: the next one resumes, and sending twice
changes nothing on the server. The result of a run is noted for `status`, `doctor` and the health line.
"""

from __future__ import annotations

import os
from itertools import chain

from unified_state.errors import AlreadyRunningError, UnifiedStateError
from unified_state.lib.files import FileLock
from unified_state.lib.record import Record
from unified_state.memory.archive.schema.outbox_triggers import note_everything
from unified_state.memory.history.store_protocol import KeepsMarks, KeepsVectors
from unified_state.memory.repository.health import SYNC_RUN, HookRun, forget_run, note_run
from unified_state.memory.secrets.rules.mask import mask_text
from unified_state.setting_table import MODEL_NAMES
from unified_state.team.outbox import Outbox, vector_batches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.history.store_protocol import HistoryStore, MarkStore
    from unified_state.memory.workspace.workspace import Workspace

LOCK = "sync.lock"


class Server(Record):
    """A server: its unique name, without a password, how to open its store of this project, and the project's name."""

    name: str
    open: Callable[[], HistoryStore]
    project: str = ""


class Synced(Record):
    """What a run did: how many records it sent, how many of them were new to the server, how many vectors it sent, and
    whether the server has everything now. `again`: the server had lost some, so everything was sent again.
    """

    server: str
    told: int = 0
    new: int = 0
    vectors: int = 0
    complete: bool = False
    again: bool = False


class Limits(Record):
    """The limits of a run: on records and vectors, on its time, and on its wait for another run."""

    records: int | None = None
    has_time: Callable[[], bool] | None = None
    wait: float = 5.0


def sync(workspace: Workspace, server: Server, clock: Callable[[], int], limits: Limits | None = None) -> Synced:
    """Send the server what it does not have. Raises UnifiedStateError, and notes why, where that fails."""
    limits = limits or Limits()
    message = "another sync of this archive is at work"
    busy = AlreadyRunningError(message, "it sends what there is; `unified-state status` shows the rest")
    with FileLock(os.path.join(workspace.place.folder, LOCK), limits.wait, busy):
        return workspace.use(lambda archive: _run(workspace, archive, server, clock, limits))


def note_no_run(workspace: Workspace, error: UnifiedStateError, now: int) -> None:
    """Note why no run could begin. Where the user wants no server, forget how the last one failed."""
    if workspace.is_empty:
        return
    if workspace.settings.postgres_enabled:
        _note(workspace, HookRun(SYNC_RUN, now, 0, error.message))
    else:
        forget_run(workspace.place.folder, SYNC_RUN)


def _note(workspace: Workspace, run: HookRun) -> None:
    try:
        note_run(workspace.place.folder, run)
    except OSError as error:
        workspace.report(f"how the sync ended could not be noted: {error.strerror}")


def _run(workspace: Workspace, archive: Archive, server: Server, clock: Callable[[], int], limits: Limits) -> Synced:
    began = clock()
    outbox = Outbox(archive, server.name, began)
    _begin_run(archive, server.name, began)

    def end(problem: str | None, *, is_complete: bool) -> None:
        now = clock()
        _end_run(archive, server.name, now, error=problem, is_complete=is_complete)
        _note(workspace, HookRun(SYNC_RUN, began, now - began, problem))

    try:
        with server.open() as store:
            marks = store.marks if isinstance(store, KeepsMarks) else None
            mark = Mark(archive, server.name, workspace.place.id or "", marks)
            done = Synced(server.name, again=mark.begin_anew())
            model = MODEL_NAMES.get(workspace.settings.search_vectors)
            sent = chain(_send(store, outbox, mark), _send_vectors(store, archive, server.name, model, mark))
            done = _replicate(done, sent, limits)
    except Exception as error:
        told = error.message if isinstance(error, UnifiedStateError) else f"{type(error).__name__}: {error}"
        end(mask_text(told, lambda _secret: "in-log"), is_complete=False)
        raise
    end(None, is_complete=done.complete)
    return done


def _replicate(done: Synced, sent: Iterable[dict[str, int]], limits: Limits) -> Synced:
    """Send batch by batch, up to the limits. Return what was done."""
    for counts in sent:
        done = done.replace(**{name: getattr(done, name) + count for name, count in counts.items()})
        if limits.records is not None and done.told + done.vectors >= limits.records:
            return done
        if limits.has_time is not None and not limits.has_time():
            return done
    return done.replace(complete=True)


def _send(store: HistoryStore, outbox: Outbox, mark: Mark) -> Iterator[dict[str, int]]:
    for batch in outbox.batches():
        new = store.append(batch.records) if batch.records else 0
        mark.up()
        batch.settle()
        yield {"told": len(batch.records), "new": new}


def _send_vectors(
    store: HistoryStore, archive: Archive, server: str, model: str | None, mark: Mark
) -> Iterator[dict[str, int]]:
    """Send the vectors of the model that the user searches by, to a server that takes any."""
    keeper = store.vectors if isinstance(store, KeepsVectors) and store.vectors.can_be_kept else None
    for batch in vector_batches(archive, server, model if keeper else None):
        if keeper is not None and batch.vectors:
            keeper.add(batch.model, batch.vectors)
            mark.up()
        batch.settle()
        yield {"vectors": len(batch.vectors)}


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


def _begin_run(archive: Archive, name: str, now: int) -> None:
    """A run begins. Until it has ended well it counts as a failure: it may be killed at any moment. Other servers that
    were never reached (a name was misspelt) are forgotten.
    """
    unreached = "SELECT id FROM outbox_server WHERE name != ? AND offered = 0 AND complete_at IS NULL"
    with archive.transaction(durable=False):
        for table in ("outbox", "outbox_session", "outbox_vectors"):
            archive.run(f"DELETE FROM {table} WHERE server IN ({unreached})", name)
        archive.run(f"DELETE FROM outbox_server WHERE id IN ({unreached})", name)
        archive.run("UPDATE outbox_server SET began_at = ?, failures = failures + 1 WHERE name = ?", now, name)


def _end_run(archive: Archive, name: str, now: int, *, error: str | None = None, is_complete: bool = False) -> None:
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
