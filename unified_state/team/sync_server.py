"""Syncing: what is new in an archive goes to a server, in batches, each of which is settled when the server has it.

One run at a time works on an archive. A run may be killed at any moment: the next one goes on where it was, and what
the server has already changes nothing there. How a run ended is kept, for `status`, `doctor` and the health line.
"""

from __future__ import annotations

import os

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
    from collections.abc import Callable, Iterator

    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.history.store_protocol import HistoryStore, MarkStore, VectorStore
    from unified_state.memory.workspace.workspace import Workspace

LOCK = "sync.lock"


class Server(Record):
    """A server: what tells it from others, without a password, and how its store of this project is opened; what the
    project is called there.
    """

    name: str
    open: Callable[[], HistoryStore]
    project: str = ""


class Synced(Record):
    """What a run did: how many records it told, how many of them the server did not have, how many vectors it sent, and
    whether the server has everything now. `again`: it had lost what it was told, so everything was begun anew.
    """

    server: str
    told: int = 0
    new: int = 0
    vectors: int = 0
    complete: bool = False
    again: bool = False


class Limits(Record):
    """How much a run does: at most so many records and vectors, and as long as there is time; how long it waits for
    another one.
    """

    records: int | None = None
    has_time: Callable[[], bool] | None = None
    wait: float = 5.0


def sync(workspace: Workspace, server: Server, clock: Callable[[], int], limits: Limits | None = None) -> Synced:
    """Tell the server what it does not have. Raises UnifiedStateError, and keeps why, where that fails."""
    limits = limits or Limits()
    with _lock(workspace.place.folder, limits.wait):
        return workspace.use(lambda archive: _Run(workspace, archive, server, clock, limits).run())


def note_no_run(workspace: Workspace, error: UnifiedStateError, now: int) -> None:
    """Keep why no run could begin. Where the user wants no server, how the last one failed is forgotten."""
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


class _Run:
    def __init__(
        self, workspace: Workspace, archive: Archive, server: Server, clock: Callable[[], int], limits: Limits
    ) -> None:
        self._workspace, self._archive = workspace, archive
        self._server, self._clock, self._limits = server, clock, limits
        self._began = clock()

    def run(self) -> Synced:
        outbox = Outbox(self._archive, self._server.name, self._began)
        begin_run(self._archive, self._server.name, self._began)
        try:
            done = self._replicate(outbox)
        except Exception as error:
            told = error.message if isinstance(error, UnifiedStateError) else f"{type(error).__name__}: {error}"
            self._end(mask_text(told, _no_tag))
            raise
        self._end(None, is_complete=done.complete)
        return done

    def _replicate(self, outbox: Outbox) -> Synced:
        with self._server.open() as store:
            marks = store.marks if isinstance(store, KeepsMarks) else None
            mark = Mark(self._archive, self._server.name, self._workspace.place.id or "", marks)
            done = Synced(self._server.name, again=mark.begin_anew())
            for batch in outbox.batches():
                new = store.append(batch.records) if batch.records else 0
                mark.up()
                batch.settle()
                done = done.replace(told=done.told + len(batch.records), new=done.new + new)
                if self._is_enough(done):
                    return done
            keeper = store.vectors if isinstance(store, KeepsVectors) and store.vectors.can_be_kept else None
            for vectors in self._vectors(keeper, mark):
                done = done.replace(vectors=done.vectors + vectors)
                if self._is_enough(done):
                    return done
        return done.replace(complete=True)

    def _vectors(self, keeper: VectorStore | None, mark: Mark) -> Iterator[int]:
        """Send those of the model that the user searches by, to a server that takes any; how many, batch by batch."""
        model = None if keeper is None else MODEL_NAMES.get(self._workspace.settings.search_vectors)
        for batch in vector_batches(self._archive, self._server.name, model):
            if keeper is not None and batch.vectors:
                keeper.add(batch.model, batch.vectors)
                mark.up()
            batch.settle()
            yield len(batch.vectors)

    def _is_enough(self, done: Synced) -> bool:
        most, has_time = self._limits.records, self._limits.has_time
        return (most is not None and done.told + done.vectors >= most) or (has_time is not None and not has_time())

    def _end(self, problem: str | None, *, is_complete: bool = False) -> None:
        now = self._clock()
        end_run(self._archive, self._server.name, now, error=problem, is_complete=is_complete)
        _note(self._workspace, HookRun(SYNC_RUN, self._began, now - self._began, problem))


def _lock(folder: str, seconds: float) -> FileLock:
    """Held by the one run that is at work on an archive."""
    message = "another sync of this archive is at work"
    busy = AlreadyRunningError(message, "it sends what there is; `unified-state status` shows the rest")
    return FileLock(os.path.join(folder, LOCK), seconds, busy)


def _no_tag(_secret: str) -> str:
    return "in-log"


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
