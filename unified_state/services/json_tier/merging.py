"""Merging back: what was kept in files of JSON joins the archive as soon as that can be used, and the files go.

Items are known by their UUID, steps by their entry, so merging twice, or going on where a process was killed, changes
nothing. The archive reads the transcripts first, from where it had stopped, so that their turns stand in order. The
files go only when all of it is durable; the lock is held from the first to the last of it.
"""

from __future__ import annotations

import os
import time
from itertools import islice

from unified_state.errors import DamagedArchiveError, StorageError, UnifiedStateError
from unified_state.interpreter import DatabaseError
from unified_state.rules.timestamps import to_text
from unified_state.services.capture import Capture
from unified_state.services.clock import current_time
from unified_state.services.forgetting_told import forget_told
from unified_state.services.json_tier.history import JsonHistory
from unified_state.services.json_tier.places import DAMAGED, MERGED, merged_folders, project_of, waiting_folders
from unified_state.services.pending import keep_message
from unified_state.services.place import digest_path_of
from unified_state.storage.archive import explained
from unified_state.storage.atomic_file import sync_folder
from unified_state.storage.pending import Pending
from unified_state.storage.sessions import LOCAL_SESSION, change_work, read_work, touch_session
from unified_state.storage.state_file import StateFile, written_state_files
from unified_state.storage.tiers.json_damage import damaged_lines
from unified_state.storage.tiers.json_desk import CURSORS, NOTES, PENDING, SAVED, WORK
from unified_state.storage.tiers.protocol import everything
from unified_state.storage.tiers.sqlite import SqliteStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from unified_state.services.workspace import Workspace
    from unified_state.storage.archive import Archive

_BATCH = 500  # records in one transaction; others wait for it
_LOCK_SECONDS = 10.0


def merge_back(workspace: Workspace, archive: Archive, seconds: float) -> str | None:
    """Merge what waits, for about so long; what is to be told of what is left for the next time, if anything."""
    told = None
    until = time.monotonic() + seconds
    for folder in waiting_folders(workspace.place):
        try:
            is_done = _Merge(workspace, archive, folder, lambda: time.monotonic() < until).run(
                min(seconds, _LOCK_SECONDS)
            )
            problem = None if is_done else "there was no time to take in all of it"
        except DamagedArchiveError:
            raise
        except (UnifiedStateError, DatabaseError) as error:
            known = error if isinstance(error, UnifiedStateError) else explained(error, archive.path)
            if isinstance(known, DamagedArchiveError):
                raise
            problem = str(known)
        if problem is not None:
            told = f"what was kept in {folder} while the archive could not be used is not shown yet: {problem}"
    return told


class _Merge:
    """One history on its way into the archive."""

    def __init__(self, workspace: Workspace, archive: Archive, folder: str, has_time: Callable[[], bool]) -> None:
        self._workspace = workspace
        self._archive = archive
        self._folder = folder
        self._project = project_of(workspace.place)
        self._has_time = has_time
        self._now = current_time()

    def run(self, lock_seconds: float) -> bool:
        """Whether all of it is in the archive now, and the files are gone."""
        history = JsonHistory(self._folder, self._project, seconds=lock_seconds)
        with history.files:
            if os.path.isdir(history.files.folder):  # else another process has merged it meanwhile
                self._forget(history)  # first: it is not to be read again, nor anything to be taken from it
                if not (self._read_transcripts(history) and self._take_in(history)):
                    return False
                self._rename(history)
                self._take_desk(history.desk.read())
                self._put_away(history.files.folder)
            for folder in merged_folders(self._folder, self._project):
                _remove(folder)
        return True

    def _forget(self, history: JsonHistory) -> None:
        """Forget what was forgotten meanwhile, as thoroughly as here."""
        if tombstones := list(history.store.tombstones()):
            forget_told(self._archive, tombstones)
            SqliteStore(self._archive.path, archive=self._archive).append(tombstones)

    def _read_transcripts(self, history: JsonHistory) -> bool:
        """Let the archive read on in the transcripts of which the history holds a part."""
        capture = Capture(
            self._archive,
            self._workspace.masker,
            self._now,
            self._has_time,
            head=self._workspace.head,
            postpones=True,
        )
        cursors = history.desk.read()[CURSORS]
        own = [(path, one["session_id"]) for path, one in cursors.items() if one["agent"] is None]
        return all(capture.session(path, session_id).complete for path, session_id in own if os.path.exists(path))

    def _take_in(self, history: JsonHistory) -> bool:
        """Items first, and the compactions that they come from: they are few, and what the next answer needs."""
        store = SqliteStore(self._archive.path, archive=self._archive)
        store.append([*history.store.compactions(), *history.store.items(), *history.store.links()])
        records = everything(history.store)
        while batch := list(islice(records, _BATCH)):
            if not self._has_time():
                return False
            store.append(batch)
        return True

    def _rename(self, history: JsonHistory) -> None:
        """Give the items that have other names now those names in the state files too, and tell the user."""
        store = SqliteStore(self._archive.path, archive=self._archive)
        names: dict[tuple[str, str], str] = {}
        for item in history.store.items():
            (kept,) = store.find_items(item.uuid) or (item,)
            if kept.alias != item.alias:
                names[item.alias, item.created_at] = kept.alias
                self._workspace.advise(
                    f"{item.alias}, recorded while the archive could not be used, is {kept.alias} now: "
                    f"another {item.alias} is there; `unified-state recall {item.alias}` tells of both"
                )
        place, folder = self._workspace.place, history.files.folder
        for path in filter(os.path.exists, written_state_files(folder)):
            StateFile(path, digest_path_of(place.folder, path)).trust(digest_path_of(folder, path))
        paths = {place.state_path, *written_state_files(place.folder)} if names else set()
        for path in sorted(filter(os.path.exists, paths)):
            StateFile(path, digest_path_of(place.folder, path)).rename(names)

    def _take_desk(self, desk: dict[str, Any]) -> None:
        """Take over what lay beside the history."""
        archive = self._archive
        with archive.transaction():
            for session_id, one in desk[WORK].items():
                self._take_work(session_id, one)
            for note in desk[NOTES]:
                owner = note.get("session_id")
                archive.run(
                    "INSERT INTO note (session, kind, text, at, done_at) SELECT ?1, ?2, ?3, ?4, ?5 WHERE NOT EXISTS "
                    "(SELECT 1 FROM note WHERE kind = ?2 AND text = ?3 AND at = ?4)",
                    touch_session(archive, owner, 0) if owner else None,
                    note["kind"],
                    note["text"],
                    note["at"],
                    note.get("done_at"),
                )
            for path, saved in desk[SAVED].items():
                archive.run(
                    "INSERT INTO saved VALUES (?, ?, ?, ?) ON CONFLICT (state_path) DO UPDATE SET at = excluded.at, "
                    "trigger = excluded.trigger, git = excluded.git WHERE excluded.at > at",
                    path,
                    saved["at"],
                    saved["trigger"],
                    saved["git"],
                )
        for session_id, kind, text, at in desk[PENDING]:
            keep_message(archive, session_id, Pending(kind, text, at))

    def _take_work(self, session_id: str, one: dict[str, Any]) -> None:
        archive = self._archive
        known = {"worktree": one.get("worktree"), "pid": one.get("pid")}
        number = touch_session(archive, session_id, int(one.get("seen_at", 0)), **known)
        told = {"workItem": one.get("work_item"), "branch": one.get("branch"), "commit": one.get("commit")}
        changes = {name: value for name, value in told.items() if value}
        if changes and (session_id != LOCAL_SESSION or changes.get("workItem")):
            work = {**read_work(archive, number).get("workItem", {}), **(changes.get("workItem") or {})}
            change_work(archive, number, {**changes, **({"workItem": work} if work else {})})

    def _put_away(self, folder: str) -> None:
        """Take the files out of their place: from now on there is nothing to be merged. Damaged ones are kept."""
        damaged = damaged_lines(folder)
        ending = f"{to_text(self._now).replace(':', '')}-{os.getpid()}"
        aside = f"{folder}{DAMAGED if damaged else MERGED}{ending}"
        try:
            os.rename(folder, aside)
            sync_folder(self._folder)
            if damaged:
                self._workspace.report(f"{damaged} lines could not be read; the files were set aside as {aside}")
        except OSError as error:
            message = f"{folder} is in the archive and cannot be removed: {error.strerror}"
            raise StorageError(message, "remove it by hand") from error


def _remove(folder: str) -> None:
    try:
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
        os.rmdir(folder)
    except FileNotFoundError:
        return
    except OSError as error:
        message = f"{folder} is in the archive and cannot be removed: {error.strerror}"
        raise StorageError(message, "remove it by hand") from error
