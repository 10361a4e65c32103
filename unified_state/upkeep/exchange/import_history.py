"""Import a file of another program, machine or person into the archive of this repository.

The file is read twice. The first read reaches its end before anything is written, so a damaged file changes nothing.
The second writes batches that each commit. Every record has a unique name, so an interrupted import can be repeated.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice

from unified_state.archive.archive import Archive
from unified_state.archive.sessions import root_at_worktree, session_number
from unified_state.archive.text_columns import rewrite_index
from unified_state.errors import DamagedFileError, ForeignFileError, UsageError
from unified_state.ledger.item_table import PROPOSED
from unified_state.ledger.rules.short_item import may_decide
from unified_state.lib.record import Record
from unified_state.model.history_records import HistoryRecord, StoredItem, StoredStep, Tombstone
from unified_state.project.workspace.workspace import Workspace
from unified_state.restore.restore_table import last_news, take_back_news
from unified_state.secrets.masker import Masker
from unified_state.state_file.adopt import adopt
from unified_state.state_file.read_entries import read_entries
from unified_state.state_file.state_file import StateContent, StateFile
from unified_state.state_file.writer.save_state import refresh_worktrees
from unified_state.upkeep.exchange.foreign_files import Tally
from unified_state.upkeep.exchange.import_formats import HISTORY, STATE, Source, open_records
from unified_state.upkeep.exchange.import_trust import Judge, masked
from unified_state.upkeep.forget.forget_refs import apply_tombstones
from unified_state.upkeep.history.archive_changes import append

_AT_ONCE = 250  # records: hooks wait for one batch at most


class ImportResult(Record):
    """The result of importing one file: the numbers of records, new records, items that need the user's decision, and
    records left out.

    `skipped` are damaged records of another program, the first of them at `first_skipped`, and `elsewhere` sessions and
    notes of other projects.
    """

    path: str
    format: str
    records: int
    added: int = 0
    proposed: int = 0
    left: int = 0
    skipped: int = 0
    first_skipped: str = ""
    elsewhere: int = 0


def check(workspace: Workspace, source: Source, project: str | None = None) -> None:
    """Read the files of a source to their ends. Raises ForeignFileError."""
    path = source.path
    if os.path.realpath(path) == os.path.realpath(workspace.place.state_path):
        message = f"{path} is the state file of this very folder"
        raise UsageError(message, "it is read without an import")
    if source.format == STATE:
        _state_in(path)
        return
    for _ in _records(workspace, source, project, Tally()):
        pass


def import_file(
    workspace: Workspace, source: Source, now: int, project: str | None = None, *, is_own: bool = False
) -> ImportResult:
    """Import a source that was checked into this archive.

    `project` is this project's name in the program that wrote the files. `is_own` confirms that a history is the user's
    own, which only the user can do.
    """
    if source.format == STATE:
        return _propose_state(workspace, source.path, now)
    is_history = source.format == HISTORY
    own = is_own and is_history and may_decide(workspace.origin)

    def action(archive: Archive) -> tuple[ImportResult, bool]:
        judge, tally = Judge(archive, now, is_own=own, sets_apart=is_history and not own), Tally()
        importer = _Importer(archive, workspace.masker, judge)
        records = _records(workspace, source, project, tally)
        while batch := list(islice(records, _AT_ONCE)):
            importer.keep(batch)
        if own:
            importer.settle()
        counts = importer.records, importer.added, importer.proposed, importer.left
        left_out = tally.skipped, tally.first, tally.elsewhere
        return ImportResult(source.path, source.format, *counts, *left_out), importer.has_forgotten

    done, has_forgotten = workspace.use(action)
    # Even without new records, because known ones may have changed.
    refresh_worktrees(workspace, is_anew=has_forgotten)
    return done


def _state_in(path: str) -> StateContent:
    try:
        return StateFile(path, "").load()
    except DamagedFileError as error:
        raise ForeignFileError(error.message, "name a file unified-session-state….json") from error


def _propose_state(workspace: Workspace, path: str, now: int) -> ImportResult:
    """Propose what a state file of another folder or session holds, as of one that lies in this folder."""
    content = _state_in(path)
    added = workspace.use(lambda archive: adopt(archive, content, workspace.masker, now, shows=False))
    refresh_worktrees(workspace)
    return ImportResult(path, STATE, sum(1 for _ in read_entries(content.json or {}, now)), added, proposed=added)


def _records(workspace: Workspace, source: Source, project: str | None, tally: Tally) -> Iterator[HistoryRecord]:
    worktree = workspace.place.repository.worktree
    return open_records(source, project or os.path.basename(worktree), worktree, tally)


class _Importer:
    """Store batch after batch. `settle` applies tombstones and updates what is derived: of the user's own history."""

    def __init__(self, archive: Archive, masker: Masker, judge: Judge) -> None:
        self._archive, self._masker, self._judge = archive, masker, judge
        self._sessions: set[str] = set()
        self._tombstones: list[Tombstone] = []
        self.records = self.added = self.proposed = self.left = 0
        self.has_forgotten = False

    def keep(self, batch: list[HistoryRecord]) -> None:
        """Store a batch, whole or not at all."""
        judged = [one for told in batch if (one := self._judge.judged(masked(told, self._masker))) is not None]
        self.records += len(batch)
        self.left += len(batch) - len(judged)
        self._tombstones += [record for record in judged if isinstance(record, Tombstone)]
        kept = [record for record in judged if not isinstance(record, Tombstone)]
        items = [record for record in kept if isinstance(record, StoredItem)]
        last = last_news(self._archive)
        added = append(self._archive, kept)
        # Old decisions from elsewhere are not news for active sessions.
        take_back_news(self._archive, last, [item.uuid for item in items])
        if added:
            self.added += added
            self.proposed += sum(item.status == PROPOSED for item in items)
            self._sessions.update(record.session_id for record in kept if isinstance(record, StoredStep))

    def settle(self) -> None:
        """Apply the tombstones, and note where the sessions that got steps ran."""
        if self._tombstones:
            self.added += apply_tombstones(self._archive, self._tombstones)
            self.has_forgotten = True
        rewrite_index(self._archive)  # remove what was masked from the index, if anything was
        numbers = {number for name in self._sessions if (number := session_number(self._archive, name)) is not None}
        for number in numbers:
            root_at_worktree(self._archive, number)
