"""Import a file of another program, machine or person into the archive of this repository.

The file is read twice. The first read reaches its end before anything is written, so a damaged file changes nothing.
The second writes batches that each commit. Every record has a unique name, so an interrupted import can be repeated.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

from unified_state.archive.archive import Archive
from unified_state.archive.sessions import root_at_worktree, session_number
from unified_state.archive.text_columns import tidy
from unified_state.capture.working_set.keep_working_set import rebuild_working_sets
from unified_state.errors import UsageError
from unified_state.ledger.item_table import PROPOSED
from unified_state.ledger.rules.short_item import may_decide
from unified_state.lib.record import Record
from unified_state.model.history_records import HistoryRecord, StoredCompaction, StoredItem, StoredStep, Tombstone
from unified_state.project.workspace.workspace import Workspace
from unified_state.restore.restore_table import last_news, take_back_news
from unified_state.secrets.masker import Masker
from unified_state.state_file.writer.save_state import refresh_worktrees
from unified_state.upkeep.exchange.import_formats import HISTORY, Source, is_exported_from, open_records
from unified_state.upkeep.exchange.import_trust import Judge, masked
from unified_state.upkeep.foreign.foreign_text import Tally
from unified_state.upkeep.forget.forget_refs import apply_tombstones
from unified_state.upkeep.history.archive_changes import append

Report = Callable[[int], None]

_AT_ONCE, _CHARACTERS_AT_ONCE = 1_000, 4_000_000  # hooks wait for one batch at most
_WEIGHED = 10_000  # steps of a session


class Imported(Record):
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


class Readable(Record):
    """A source that was read to its end without an error.

    `project` is this project's name in the program that wrote the file. `is_ours` is set if the file was exported from
    this repository on this machine.
    """

    source: Source
    project: str
    records: int
    is_ours: bool


def examine(workspace: Workspace, source: Source, project: str | None = None) -> Readable:
    """Read the files of a source to their ends. Raises ForeignFileError."""
    path, worktree = source.path, workspace.place.repository.worktree
    if os.path.realpath(path) == os.path.realpath(workspace.place.state_path):
        message = f"{path} is the state file of this very folder"
        raise UsageError(message, "it is read without an import")
    project = project or os.path.basename(worktree)
    count = sum(1 for _ in open_records(source, project, worktree, Tally()))
    is_ours = source.format == HISTORY and is_exported_from(workspace.place.id or "", path, workspace.masker.seal)
    return Readable(source, project, count, is_ours)


def import_file(
    workspace: Workspace,
    readable: Readable,
    now: int,
    report: Report,
    *,
    is_own: bool = False,
) -> Imported:
    """Import a readable file into this archive.

    `is_own` confirms that a history is the user's own, which only the user can do. `report` receives the number of
    finished records.
    """
    source, worktree = readable.source, workspace.place.repository.worktree
    is_history = source.format == HISTORY
    own = is_history and may_decide(workspace.origin) and (is_own or readable.is_ours)

    def action(archive: Archive) -> tuple[Imported, set[str]]:
        judge, tally = Judge(archive, now, is_own=own, sets_apart=is_history and not own), Tally()
        importer = _Importer(archive, workspace.masker, judge, is_own=own)
        for batch in _batches(open_records(source, readable.project, worktree, tally)):
            importer.keep(batch)
            report(len(batch))
        importer.settle()
        return _result(readable, importer, tally), importer.forgotten

    done, forgotten = workspace.use(action)
    # Even without new records, because known ones may have changed.
    refresh_worktrees(workspace, forgotten.__contains__ if forgotten else None)
    return done


class _Importer:
    """Store batch after batch. `settle` applies tombstones and updates derived data of the archive."""

    def __init__(self, archive: Archive, masker: Masker, judge: Judge, *, is_own: bool) -> None:
        self._archive, self._masker, self._judge = archive, masker, judge
        self._is_own = is_own
        self._sessions: set[str] = set()
        self.tombstones: list[Tombstone] = []
        self._was_masked = False
        self.forgotten: set[str] = set()  # texts that state files may still contain
        self.added = self.proposed = self.left = 0

    def keep(self, batch: Iterable[HistoryRecord]) -> None:
        """Store a batch, whole or not at all."""
        judged = [record for told in batch if (record := self._judged(told)) is not None]
        self.tombstones += [record for record in judged if isinstance(record, Tombstone)]
        kept = [record for record in judged if not isinstance(record, Tombstone)]
        self._was_masked |= any(
            record.masked_at for record in kept if isinstance(record, StoredStep | StoredCompaction)
        )
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
        """Apply the tombstones of the history, and rebuild the working sets of the user's own sessions that got steps.

        Imported sessions of others never continue here.
        """
        if self.tombstones:
            new, self.forgotten = apply_tombstones(self._archive, self.tombstones)
            self.added += new
        if self._was_masked:
            tidy(self._archive)  # remove the masked bytes from every file
        if not self._is_own:
            return
        numbers = {number for name in self._sessions if (number := session_number(self._archive, name)) is not None}
        for number in numbers:
            root_at_worktree(self._archive, number)
        rebuild_working_sets(self._archive, numbers, _WEIGHED)

    def _judged(self, record: HistoryRecord) -> HistoryRecord | None:
        judged = self._judge.judged(masked(record, self._masker))
        self.left += judged is None
        return judged


def _result(readable: Readable, importer: _Importer, tally: Tally) -> Imported:
    return Imported(
        path=readable.source.path,
        format=readable.source.format,
        records=readable.records,
        added=importer.added,
        proposed=importer.proposed,
        left=importer.left,
        skipped=tally.skipped,
        first_skipped=tally.first,
        elsewhere=tally.elsewhere,
    )


def _batches(records: Iterator[HistoryRecord]) -> Iterator[list[HistoryRecord]]:
    batch: list[HistoryRecord] = []
    characters = 0
    for record in records:
        batch.append(record)
        characters += len(record.text) if isinstance(record, StoredStep) else 0
        if len(batch) >= _AT_ONCE or characters >= _CHARACTERS_AT_ONCE:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch
