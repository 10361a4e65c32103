"""Sync: send the new records of an archive to a server, in batches that are settled once the server has them.

One run at a time is active for an archive. A killed run is resumed by the next one, and repeated transfers change
nothing on the server. The result of a run is recorded for `status`, `doctor` and the health line.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from unified_state.errors import AlreadyRunningError, UnifiedStateError
from unified_state.lib.files import FileLock
from unified_state.lib.record import Record
from unified_state.lib.times import to_text
from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.schema.outbox_triggers import note_everything
from unified_state.memory.history.store_protocol import (
    HasIdentity,
    HistoryStore,
    KeepsMarks,
    KeepsVectors,
    MarkStore,
    SharesItems,
)
from unified_state.memory.repository.health import SYNC_RUN, HookRun, forget_run, note_run
from unified_state.memory.secrets.rules.mask import mask_text
from unified_state.memory.workspace.workspace import Workspace
from unified_state.setting_table import MINILM_NAME, OFF
from unified_state.team.known_servers import Told, know_again, mark_key
from unified_state.team.outbox import Outbox, vector_batches

LOCK = "sync.lock"
_SHARED_SINCE = "items shared since"


class Server(Record):
    """A server: its unique name without a password, a function that opens its store, and the project's name.

    The name is `who` the user is there, and the server's address.
    """

    name: str
    open: Callable[[], HistoryStore]
    project: str = ""
    who: str = ""


class Synced(Record):
    """The result of a run.

    `told` and `new` count the sent records and those new to the server. `vectors` counts the sent vectors. `complete`
    is set if the server has everything now. `again` is set if the server had lost records, so that everything was sent
    again. `private` counts items that colleagues do not find, since they are from before they could.
    """

    server: str
    told: int = 0
    new: int = 0
    vectors: int = 0
    complete: bool = False
    again: bool = False
    private: int = 0


class Limits(Record):
    """The limits of a run: number of records and vectors, time, and seconds to wait for another run."""

    records: int | None = None
    has_time: Callable[[], bool] | None = None
    wait: float = 5.0


def sync(workspace: Workspace, server: Server, clock: Callable[[], int], limits: Limits | None = None) -> Synced:
    """Send the server the records that it lacks. Raises UnifiedStateError and records the cause on failure."""
    limits = limits or Limits()
    message = "another sync of this archive is at work"
    busy = AlreadyRunningError(message, "it sends what there is; `unified-state status` shows the rest")
    with FileLock(os.path.join(workspace.place.folder, LOCK), limits.wait, busy):
        return workspace.use(lambda archive: _run(workspace, archive, server, clock, limits))


def note_no_run(workspace: Workspace, error: UnifiedStateError, now: int) -> None:
    """Record why no run could begin. If the user configured no server, delete the last failure instead."""
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
    since = _items_since(archive, began)
    Outbox(archive, server.name, began)
    _begin_run(archive, server.name, began)

    def end(problem: str | None, *, is_complete: bool) -> None:
        now = clock()
        _end_run(archive, server.name, now, error=problem, is_complete=is_complete)
        _note(workspace, HookRun(SYNC_RUN, began, now - began, problem))

    try:
        with server.open() as store:
            marks = store.marks if isinstance(store, KeepsMarks) else None
            if isinstance(store, SharesItems):
                store.team.set_since(since)
            outbox = _open_outbox(workspace, archive, server, store, began)
            mark = Mark(archive, server.name, workspace.place.id or "", marks)
            done = Synced(server.name, again=mark.begin_anew())
            model = None if workspace.settings.search_vectors == OFF else MINILM_NAME
            sent = chain(_send(store, outbox, mark), _send_vectors(store, archive, server.name, model, mark))
            done = _replicate(done, sent, limits)
            if done.complete and isinstance(store, SharesItems):
                store.team.fill_in_words()
                done = done.replace(private=store.team.count_private())
    except Exception as error:
        told = error.message if isinstance(error, UnifiedStateError) else f"{type(error).__name__}: {error}"
        end(mask_text(told, lambda _secret: "in-log"), is_complete=False)
        raise
    end(None, is_complete=done.complete)
    return done


def _items_since(archive: Archive, now: int) -> str:
    """Return the time from which on items are shared as steps are: that of the first run of a version that shares
    items, if an earlier version sent this archive to a server.
    """
    since = archive.meta(_SHARED_SINCE)
    if since is None:
        was_sent = archive.row("SELECT 1 FROM outbox_server WHERE offered > 0 OR complete_at NOT NULL LIMIT 1")
        since = to_text(now) if was_sent else ""
        archive.set_meta(_SHARED_SINCE, since)
    return since


def _open_outbox(workspace: Workspace, archive: Archive, server: Server, store: HistoryStore, began: int) -> Outbox:
    """Return the outbox of the server, which may be known by another address already."""
    is_other = False
    if isinstance(store, HasIdentity) and isinstance(store, KeepsMarks):
        marks, replica = store.marks, workspace.place.id or ""
        told = Told(store.identity, lambda: marks.read(replica), lambda entry: bool(store.find_steps(entry)))
        is_other = know_again(archive, server.name, server.who, told)
    outbox = Outbox(archive, server.name, began)
    if is_other:
        _begin_run(archive, server.name, began)
    return outbox


def _replicate(done: Synced, sent: Iterable[dict[str, int]], limits: Limits) -> Synced:
    """Send batch by batch, up to the limits. Return the result."""
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
    """Send the vectors of the user's search model to a server that stores vectors."""
    keeper = store.vectors if isinstance(store, KeepsVectors) and store.vectors.can_be_kept else None
    for batch in vector_batches(archive, server, model if keeper else None):
        if keeper is not None and batch.vectors:
            keeper.add(batch.model, batch.vectors)
            mark.up()
        batch.settle()
        yield {"vectors": len(batch.vectors)}


def _begin_run(archive: Archive, name: str, now: int) -> None:
    """Record the start of a run.

    It counts as a failure until it ends well, because it may be killed at any moment. Other servers that were never
    reached (a misspelt name) are deleted.
    """
    unreached = "SELECT id FROM outbox_server WHERE name != ? AND offered = 0 AND complete_at IS NULL"
    with archive.transaction(durable=False):
        for table in ("outbox", "outbox_session", "outbox_vectors"):
            archive.run(f"DELETE FROM {table} WHERE server IN ({unreached})", name)
        archive.run(f"DELETE FROM outbox_server WHERE id IN ({unreached})", name)
        archive.run("UPDATE outbox_server SET began_at = ?, failures = failures + 1 WHERE name = ?", now, name)


def _end_run(archive: Archive, name: str, now: int, *, error: str | None = None, is_complete: bool = False) -> None:
    """Record the end of a run, which succeeded if `error` is None."""
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
    """The sync progress of an archive (its id is `replica`), stored on the server and here. A store without marks is
    always current.
    """

    def __init__(self, archive: Archive, server: str, replica: str, store: MarkStore | None) -> None:
        self._archive, self._server, self._replica, self._store = archive, server, replica, store
        self._name = mark_key(server)
        self._there = 0 if store is None else store.read(replica)

    def begin_anew(self) -> bool:
        """Queue everything again if the server has less progress than the archive recorded. Return whether it had.

        Raises StorageError if the server is a standby, which accepts no writes.
        """
        archive = self._archive
        if self._store is None or self._there >= int(archive.meta(self._name) or 0):
            return False
        self._store.keep(self._replica, self._there)  # fails on a standby
        with archive.transaction():
            (server,) = archive.row("SELECT id FROM outbox_server WHERE name = ?", self._server)
            archive.run("DELETE FROM outbox_session WHERE server = ?", server)
            archive.run("UPDATE outbox_vectors SET position = 0 WHERE server = ?", server)
            archive.run("UPDATE outbox_server SET step = 0 WHERE id = ?", server)
            note_everything(archive, server)
            archive.set_meta(self._name, str(self._there))
        return True

    def up(self) -> None:
        """Record that the server has one more batch."""
        if self._store is not None:
            self._there += 1
            self._store.keep(self._replica, self._there)
            with self._archive.transaction(durable=False):
                self._archive.set_meta(self._name, str(self._there))
