"""Sync: send the new records of an archive to a server, in batches that are settled once the server has them.

One run at a time is active for an archive. A killed run is resumed by the next one, and repeated transfers change
nothing on the server. The result of a run is recorded for `status`, `doctor` and the health line.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from unified_state.archive.archive import Archive
from unified_state.errors import AlreadyRunningError, UnifiedStateError
from unified_state.extras.team.outbox import Outbox
from unified_state.extras.team.team_server import Consent, TeamServer, agreed_to, disagree
from unified_state.lib.files import FileLock
from unified_state.lib.record import Record
from unified_state.project.health import SYNC_RUN, HookRun, forget_run, note_run
from unified_state.project.workspace.workspace import Workspace
from unified_state.secrets.rules.mask import mask_text
from unified_state.setting_table import MINILM_NAME, OFF

if TYPE_CHECKING:
    from unified_state.extras.team.postgres.record_store import TeamStore

LOCK = "sync.lock"


class SyncResult(Record):
    """The result of a run.

    `told` counts the sent records, and `new` those that the server did not have so.
    `complete` is set if the server has everything now. `again` is set if the server had lost records, so that
    everything was sent again.
    """

    server: str
    told: int = 0
    new: int = 0
    complete: bool = False
    again: bool = False


class Limits(Record):
    """The limits of a run: number of records, time, and seconds to wait for another run."""

    records: int | None = None
    has_time: Callable[[], bool] | None = None
    wait: float = 5.0


def sync(
    workspace: Workspace, server: TeamServer, clock: Callable[[], int], limits: Limits | None = None
) -> SyncResult:
    """Send the server the records that it lacks. Raises UnifiedStateError and records the cause on failure."""
    limits = limits or Limits()
    agreed = agreed_to(workspace)
    with _alone(workspace, limits.wait):
        return workspace.use(lambda archive: _run(workspace, archive, server, agreed, clock, limits))


def take_back(workspace: Workspace, server: TeamServer) -> int:
    """Send nothing any more, and empty on the server what was sent. Return the number of records there."""
    with _alone(workspace, Limits().wait), server.open() as store:
        workspace.use(disagree)
        return store.delete_own()


def _alone(workspace: Workspace, seconds: float) -> FileLock:
    message = "another sync of this archive is at work"
    busy = AlreadyRunningError(message, "it sends what there is; `unified-state status` shows the rest")
    return FileLock(os.path.join(workspace.place.folder, LOCK), seconds, busy)


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


def _run(  # the last two say how
    workspace: Workspace,
    archive: Archive,
    server: TeamServer,
    agreed: Consent,
    clock: Callable[[], int],
    limits: Limits,
) -> SyncResult:
    began = clock()
    outbox = Outbox(archive, agreed.name, began)
    done = SyncResult(agreed.name)

    def end(problem: str | None) -> None:
        now = clock()
        outbox.note_end(now, problem, is_complete=done.complete)
        _note(workspace, HookRun(SYNC_RUN, began, now - began, problem))

    try:
        with server.open(begins=True) as store:
            agreed.check(store)
            done = _send(workspace, store, outbox, done, limits)
    except Exception as error:
        told = error.message if isinstance(error, UnifiedStateError) else f"{type(error).__name__}: {error}"
        end(mask_text(told, lambda _secret: "in-log"))
        raise
    end(None)
    return done


def _send(workspace: Workspace, store: TeamStore, outbox: Outbox, done: SyncResult, limits: Limits) -> SyncResult:
    """Send batch by batch, up to the limits. Return the result."""
    place = workspace.place.id or ""
    there = store.mark(place)
    if there < outbox.mark:  # it lost what it had confirmed, or is a standby that lags behind and takes nothing
        store.append([], place, there)
        outbox.begin_anew(there)
        done = done.replace(again=True)
    if workspace.settings.search_vectors != OFF and store.vectors_in:
        outbox.add_vectors(MINILM_NAME)
    for mark, batch in enumerate(outbox.batches(), there + 1):
        new = store.append(batch.records, place, mark)
        batch.settle(mark)
        done = done.replace(told=done.told + len(batch.records), new=done.new + new)
        if done.told >= (limits.records or done.told + 1) or (limits.has_time is not None and not limits.has_time()):
            return done
    return done.replace(complete=True)
