"""Merge the records of a journal into the archive once it can be used again, and delete the journal.

Items are identified by their UUID, steps by their entry, so a merge can be repeated or resumed. The transcripts are
read first, from the archive's position, so that turns are in order. The files are deleted only when everything is
durable. The journal's lock is held for the whole merge.
"""

from __future__ import annotations

import os
import time
from itertools import islice

from unified_state.capture.capture_transcript import Capture
from unified_state.errors import DamagedArchiveError, StorageError, UnifiedStateError
from unified_state.lib.files import sync_folder
from unified_state.lib.stdlib import DatabaseError, parse_json
from unified_state.lib.times import current_time, to_text
from unified_state.memory.archive.archive import explained
from unified_state.memory.archive.pending_messages import Pending, keep_message, read_pending, sessions_with_pending
from unified_state.memory.archive.session_work import change_work, read_work
from unified_state.memory.archive.sessions import LOCAL_SESSION, touch_session
from unified_state.memory.history.archive_store import SqliteStore
from unified_state.memory.history.store_protocol import everything
from unified_state.memory.journal.journal import EVENTS, HISTORY, Journal
from unified_state.memory.journal.journal_places import DAMAGED, MERGED, merged_folders
from unified_state.memory.journal.journalled_archive import JournalledArchive
from unified_state.memory.journal.scratch_database import remove_scratch, remove_tree
from unified_state.memory.ledger.item_table import raise_counter, selected_items
from unified_state.memory.repository.place import digest_path_of, journal_folder
from unified_state.memory.state_file.state_file import StateFile, written_state_files
from unified_state.memory.workspace.carry_items import is_carried
from unified_state.model.hook_event import Moment
from unified_state.upkeep.forget.forget_refs import forget_told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.workspace.workspace import Workspace
    from unified_state.model.history_records import HistoryRecord
    from unified_state.model.item import LedgerItem

    Message = tuple[str, Pending]

_BATCH = 500  # records in one transaction, for which others wait
_LOCK_SECONDS = 10.0
_OWN_TRANSCRIPTS = (
    "SELECT path, session_id FROM transcript JOIN session ON session.id = session WHERE agent IS NULL ORDER BY path"
)


def merge_back(workspace: Workspace, archive: Archive, seconds: float) -> str | None:
    """Merge the waiting journals for at most about `seconds`. Return a line about unmerged records, or None.

    Raises DamagedArchiveError.
    """
    unmerged = None
    until = time.monotonic() + seconds
    for folder in workspace.waiting:
        merge = _Merge(workspace, archive, folder, lambda: time.monotonic() < until)
        try:
            problem = None if merge.run(min(seconds, _LOCK_SECONDS)) else "the rest follows at the next session start"
        except (UnifiedStateError, DatabaseError) as error:
            known = error if isinstance(error, UnifiedStateError) else explained(error, archive.path)
            if isinstance(known, DamagedArchiveError):
                raise
            problem = str(known)
        if problem is not None:
            unmerged = f"the journal {folder} is not merged completely: {problem}"
    return unmerged


class _Merge:
    """The merge of one folder of journals into the archive."""

    def __init__(self, workspace: Workspace, archive: Archive, folder: str, has_time: Callable[[], bool]) -> None:
        self._workspace = workspace
        self._archive = archive
        self._store = SqliteStore(archive.path, archive=archive)
        self._folder = folder
        self._is_history = workspace.keeps_journal and folder == journal_folder(workspace.place)
        self._has_time = has_time
        self._now = current_time()
        self._damaged = 0

    def run(self, lock_seconds: float) -> bool:
        """Merge, and return whether everything is in the archive and the files are deleted."""
        own = self._archive.journal if isinstance(self._archive, JournalledArchive) else None
        journal = own if own and self._is_history else Journal(self._folder, lock_seconds)
        with journal:
            if not (self._journal(journal) and self._events()):
                return False
            self._put_away()
            self._remove_merged()
        return True

    def _journal(self, journal: Journal) -> bool:
        if self._is_history or not os.path.exists(os.path.join(self._folder, HISTORY)):
            return True
        with JournalledArchive(self._folder, journal=journal) as source:
            names = sessions_with_pending(source)
            pending = [(name, message) for name in names for message in read_pending(source, name)]
            self._damaged += source.damaged
            return self._take_in(source, pending)

    def _events(self) -> bool:
        """Merge the events of hooks without SQLite: messages, and transcripts to read."""
        told = [line for commit in Journal(self._folder, 0, EVENTS).commits() for line in commit]
        for event in told:
            with self._archive.transaction():
                known = {name: event.get(name) for name in ("worktree", "pid")}
                touch_session(self._archive, event["session"], event["at"], **known)
            if event.get("text"):
                self._keep([(event["session"], Pending(event["kind"], event["text"], event["at"]))])
        return self._read_transcripts({(event["transcript"], event["session"]) for event in told})

    def _take_in(self, source: Archive, pending: list[Message]) -> bool:
        """Merge a history, and return whether all of it is in the archive."""
        history = SqliteStore(source.path, archive=source)
        self._forget(history)  # first, so that neither transcripts nor records restore deleted ones
        if not (self._read_transcripts(source.rows(_OWN_TRANSCRIPTS)) and self._append(source, history)):
            return False
        self._rename(history)
        take_notes(self._archive, source)
        self._keep(pending)
        return True

    def _forget(self, history: SqliteStore) -> None:
        """Apply the tombstones of the history."""
        if tombstones := list(history.tombstones()):
            forget_told(self._archive, tombstones)
            self._store.append(tombstones)

    def _read_transcripts(self, transcripts: Iterable[tuple[str, str]]) -> bool:
        """Capture the transcripts that the history has a part of, from the archive's position."""
        moment = Moment(self._now, has_time=self._has_time)
        capture = Capture(self._archive, self._workspace.masker, moment, postpones=True)
        return all(
            capture.session(path, session_id).complete
            for path, session_id in sorted(transcripts)
            if os.path.exists(path)
        )

    def _append(self, source: Archive, history: SqliteStore) -> bool:
        """Append the records. Items and their compactions are first: they are few, and the next answer needs them."""
        with self._archive.transaction():
            for letter, last in source.rows("SELECT letter, last FROM counter"):
                raise_counter(self._archive, letter, last)
        self._store.append(self._known_here([*history.compactions(), *history.items(), *history.links()]))
        records = self._known_here(everything(history))
        while batch := list(islice(records, _BATCH)):
            if not self._has_time():
                return False
            self._store.append(batch)
        return True

    def _known_here(self, records: Iterable[HistoryRecord]) -> Iterator[HistoryRecord]:
        """Yield the records that the archive does not have yet."""
        for record in records:
            if not is_carried(record) and self._captured(record) is None:
                yield record

    def _captured(self, record: HistoryRecord) -> LedgerItem | None:
        """Return the item that the archive itself captured for the same fact, or None."""
        key = getattr(record, "capture_key", None)
        found = selected_items(self._archive, "WHERE capture_key = ?", key) if key else []
        return next((item for item in found if item.uuid != getattr(record, "uuid", None)), None)

    def _rename(self, history: SqliteStore) -> None:
        """Rename items with a new alias in the state files too, and inform the user."""
        names: dict[tuple[str, str], str] = {}
        for item in history.items():
            captured = self._captured(item)
            (kept,) = [captured] if captured else self._store.find_items(item.uuid) or (item,)
            if kept.alias == item.alias or is_carried(item):
                continue
            names[item.alias, item.created_at] = kept.alias
            if captured is None:
                self._workspace.advise(
                    f"{item.alias}, recorded while the archive could not be used, is now {kept.alias}: the archive has "
                    f"another {item.alias}; `unified-state show {item.alias}` shows both"
                )
        place = self._workspace.place
        for path in filter(os.path.exists, written_state_files(self._folder)):
            StateFile(path, digest_path_of(place.folder, path)).trust(digest_path_of(self._folder, path))
        paths = {place.state_path, *written_state_files(place.folder)} if names else set()
        for path in sorted(filter(os.path.exists, paths)):
            StateFile(path, digest_path_of(place.folder, path)).rename(names)

    def _keep(self, pending: list[Message]) -> None:
        for session_id, message in pending:
            if message not in read_pending(self._archive, session_id):
                keep_message(self._archive, session_id, message)

    def _remove_merged(self) -> None:
        for folder in merged_folders(self._folder):
            try:
                remove_tree(folder)
            except OSError as error:
                raise _unremovable(folder, error) from error

    def _put_away(self) -> None:
        """Rename the files, so that nothing waits any more. Damaged ones stay under the new name."""
        ending = f"{to_text(self._now).replace(':', '')}-{os.getpid()}"
        aside = f"{self._folder}{DAMAGED if self._damaged else MERGED}{ending}"
        try:
            if self._is_history:
                os.mkdir(aside, 0o700)
                if os.path.exists(os.path.join(self._folder, EVENTS)):
                    os.rename(os.path.join(self._folder, EVENTS), os.path.join(aside, EVENTS))
            elif os.path.isdir(self._folder):
                remove_scratch(self._folder)
                os.rename(self._folder, aside)
            sync_folder(os.path.dirname(self._folder))
        except OSError as error:
            raise _unremovable(self._folder, error) from error
        if self._damaged:
            self._workspace.report(f"{self._damaged} lines could not be read; the files were set aside as {aside}")


def _unremovable(folder: str, error: OSError) -> StorageError:
    message = f"{folder} is in the archive and cannot be removed: {error.strerror}"
    return StorageError(message, "remove it by hand")


def take_notes(archive: Archive, source: Archive) -> None:
    """Copy the work, notes and saves of the source that the archive does not have."""
    with archive.transaction():
        for session in source.rows("SELECT session_id, coalesce(seen_at, 0), worktree, pid, work FROM session"):
            _take_work(archive, *session)
        for note in source.rows(
            "SELECT session_id, kind, text, at, done_at, key, state FROM note "
            "LEFT JOIN session ON session.id = session ORDER BY note.id"
        ):
            _take_note(archive, *note)
        for saved in source.rows("SELECT * FROM saved"):
            archive.run(
                "INSERT INTO saved VALUES (?, ?, ?, ?) ON CONFLICT (state_path) DO UPDATE SET at = excluded.at, "
                "trigger = excluded.trigger, git = excluded.git WHERE excluded.at > at",
                *saved,
            )


def _take_work(archive: Archive, session_id: str, seen_at: int, worktree: str, pid: int, told: str | None) -> None:
    number = touch_session(archive, session_id, seen_at, worktree=worktree, pid=pid)
    changes: dict[str, Any] = {name: value for name, value in (parse_json(told) if told else {}).items() if value}
    if changes and (session_id != LOCAL_SESSION or changes.get("workItem")):
        work = {**read_work(archive, number).get("workItem", {}), **(changes.get("workItem") or {})}
        change_work(archive, number, {**changes, **({"workItem": work} if work else {})})


def _take_note(archive: Archive, owner: str | None, kind: str, text: str, at: str, *more: Any) -> None:
    """Insert a note once. The archive may have the same note with another time.

    Notes without a session come from the state file, and an agent's list comes from its transcript.
    """
    done_at, key, state = more
    archive.run(
        "INSERT INTO note (session, kind, text, at, done_at, key, state) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 "
        "WHERE NOT EXISTS (SELECT 1 FROM note WHERE kind = ?2 AND text = ?3 AND (at = ?4 OR ?8))",
        touch_session(archive, owner, 0) if owner else None,
        kind,
        text,
        at,
        done_at,
        key,
        state,
        owner is None or key is not None,
    )
