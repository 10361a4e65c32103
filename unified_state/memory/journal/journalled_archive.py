"""An archive that stores its data in a journal of lines. SQLite holds a replay of the journal that may be lost.

A transaction holds the journal's lock. Its lines are in the journal before SQLite commits, so an acknowledged change is
always in the journal. Where the two differ (after a kill, or an edit by hand) the journal is replayed again. A rewrite
removes forgotten content from the journal. If a process was killed before its rewrite, the next process rewrites.

The first line of a journal holds the version of the tables of its rows. Rows of an older version are loaded into tables
of that version and migrated like an archive.
"""

from __future__ import annotations

from unified_state.errors import ArchiveUnavailableError, NewerArchiveError, StorageError, UnifiedStateError
from unified_state.lib.record import Record
from unified_state.lib.stdlib import DatabaseError
from unified_state.memory.archive.archive import ARCHIVE_VERSION, Archive, Transaction, connect_archive, storage_error
from unified_state.memory.archive.schema.outbox_triggers import make_triggers
from unified_state.memory.journal.journal import Journal
from unified_state.memory.journal.journal_rows import (
    all_lines,
    changed_lines,
    count_rows,
    load,
    note_changes,
    read_tables,
    replay,
)
from unified_state.memory.journal.scratch_database import find_scratch, make_scratch, remove_scratch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import TracebackType
    from typing import Any

    from unified_state.lib.stdlib import Connection
    from unified_state.memory.journal.journal_rows import Line, Tables

_FORMAT, _VERSION = "journal", 1
# keys of the header: the version of the tables; the number of lines written at once
_TABLES, _WHOLE = "archive", "whole"
_LEAVING = frozenset(("tombstone", "pruned"))  # a line for one of these tables deletes the content of other rows
_SLACK = 1 << 22  # bytes that a journal may grow before it is rewritten
_LAST_CHANGE = "SELECT coalesce(max(rowid), 0) FROM journal_changed"


class JournalledArchive(Archive):
    """The archive of the journal in a folder. It can be read even where nothing can be written."""

    has_journal = True

    def __init__(
        self,
        folder: str,
        *,
        seconds: float = 5.0,
        mask: Callable[[str], str] = str,
        journal: Journal | None = None,
    ) -> None:
        """Open the archive. `journal` is for callers that hold its lock."""
        self._folder = folder
        self.journal = journal or Journal(folder, seconds)
        self._known: Tables | None = None
        self._rewrites = False
        self._is_writable = True
        super().__init__("", seconds=seconds, mask=mask)
        self.folder = folder
        (self._last_change,) = self.row(_LAST_CHANGE)  # earlier changes, which other processes made

    @property
    def damaged(self) -> int:
        """The number of unusable lines in the journal."""
        return int(self._state("damaged") or 0)

    def size(self) -> int:
        """Return the size of the journal in bytes."""
        return self.journal.size()

    def compact(self) -> None:
        """Rewrite the journal from the rows, and the replay without its free pages."""
        self.run("VACUUM")
        self._rewrites = True
        with self.transaction():
            pass

    def transaction(self, *, durable: bool = True) -> Transaction:
        """Return a transaction that commits to the journal first."""
        return _Journalled(self, durable=durable)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None and self._is_writable and self._has_more():
                with self.transaction():
                    pass
        finally:
            super().__exit__(kind, error, trace)

    def _has_more(self) -> bool:
        """Return whether statements without a transaction changed rows."""
        return bool(self.row(_LAST_CHANGE) > (self._last_change,))

    def _open(self, seconds: float) -> Connection:
        try:
            with self.journal:
                self.path = find_scratch(self._folder, ARCHIVE_VERSION) or make_scratch(self._folder, ARCHIVE_VERSION)
                return self._prepared(seconds)
        except ArchiveUnavailableError:
            raise
        except (StorageError, OSError):  # the folder is read-only: the journal can still be read
            self._is_writable = False
            self.path = find_scratch(self._folder, ARCHIVE_VERSION) or ":memory:"
            return self._prepared(seconds)

    def _prepared(self, seconds: float) -> Connection:
        """Return a connection to a replay that is up to date."""
        connection = None
        try:
            self.connection = connection = connect_archive(self.path, seconds)
            if self._is_writable and self._is_left_behind():
                connection.close()
                self.path = make_scratch(self._folder, ARCHIVE_VERSION)
                self.connection = connection = connect_archive(self.path, seconds)
            is_due = self._is_writable and self._is_due()
            if is_due or not self._is_current():
                with Transaction(connection, "OFF"):
                    self._replay(is_opening=True)
                    if self._is_writable and self._is_due():
                        self._write_anew()
        except BaseException as error:
            if connection is not None:
                connection.close()
            if isinstance(error, DatabaseError):
                raise storage_error(error, self.path) from error
            raise
        return connection

    @property
    def _tables(self) -> Tables:
        if self._known is None:
            self._known = read_tables(self)
        return self._known

    def _is_new(self) -> bool:
        return not self.row("SELECT 1 FROM sqlite_schema WHERE name = 'journal_state'")

    def _is_left_behind(self) -> bool:
        """Return whether the journal of this replay was removed."""
        return not self._is_new() and self.journal.mark() is None and self._state("mark") is not None

    def _is_current(self) -> bool:
        return not self._is_new() and self._state("mark") == self.journal.mark()

    def _is_due(self) -> bool:
        """Return whether a rewrite is due: the journal still has forgotten content, or is far larger than its rows."""
        if self._is_new():
            return False
        return bool(self._state("unclean")) or self.journal.size() > 4 * int(self._state("whole") or 0) + _SLACK

    def _state(self, name: str) -> Any:
        row = self.row("SELECT value FROM journal_state WHERE name = ?", name)
        return None if row is None else row[0]

    def _note(self, **values: Any) -> None:
        for name, value in values.items():
            self.run("INSERT OR REPLACE INTO journal_state VALUES (?, ?)", name, value)

    def catch_up(self) -> None:
        """Replay the journal where another process changed it. Call it in a transaction."""
        if not self._is_current():
            self._replay()

    def _replay(self, *, is_opening: bool = False) -> None:
        is_new, mark = self._is_new(), self.journal.mark()
        if mark is None and not is_opening:
            message = f"the journal {self.journal.path} was removed meanwhile"
            raise ArchiveUnavailableError(message, "try again")
        if is_new:
            note_changes(self, self._tables)
        if mark is not None or not is_new:
            replayed = replay_journal(self, self.journal, self._tables)
            if self.row("SELECT 1 FROM outbox_server LIMIT 1"):
                make_triggers(self)
            self.run("DELETE FROM journal_changed")
            self._note(whole=replayed.whole, unclean=replayed.unclean, damaged=replayed.damaged)
            self._cut_tail()
        self._note(mark=self.journal.mark())

    def _cut_tail(self) -> None:
        """Cut off the lines that a killed process did not commit."""
        try:
            self.journal.cut(self.journal.end)
        except StorageError:
            return  # readers skip these lines, and the next commit reports the error

    def write_ahead(self, *, durable: bool) -> None:
        """Append the changes of this transaction to the journal. Call it in the transaction, with the lock held."""
        if self._rewrites or not self.journal.size():
            self._write_anew()
            return
        lines = changed_lines(self, self._tables)
        if lines:
            self.journal.append(lines, durable=durable)
            self.run("DELETE FROM journal_changed")
            self._note(mark=self.journal.mark(), **({"unclean": 1} if takes_away(lines) else {}))

    def _write_anew(self) -> None:
        write_journal(self, self.journal, self._tables)
        self._rewrites = False
        self.run("DELETE FROM journal_changed")
        self._note(mark=self.journal.mark(), whole=self.journal.size(), unclean=0, damaged=0)


class _Journalled(Transaction):
    """A transaction that holds the journal's lock and commits to the journal first."""

    def __init__(self, archive: JournalledArchive, *, durable: bool) -> None:
        super().__init__(archive.connection, "OFF")
        self._archive, self._durable = archive, durable

    def __enter__(self) -> None:
        self._archive.journal.__enter__()
        try:
            super().__enter__()
            try:
                self._archive.catch_up()
            except BaseException as error:
                super().__exit__(type(error), error, None)
                raise
        except BaseException:
            self._archive.journal.__exit__(None, None, None)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._commit()
            else:
                super().__exit__(kind, error, trace)
        finally:
            self._archive.journal.__exit__(None, None, None)

    def _commit(self) -> None:
        journal = self._archive.journal
        before = journal.size()
        try:
            self._archive.write_ahead(durable=self._durable)
            super().__exit__(None, None, None)
        except BaseException as error:
            super().__exit__(type(error), error, None)
            if isinstance(error, DatabaseError) and before:  # the disk of the replay is full: undo the append
                journal.cut(before)
            raise


class MemoryArchive(Archive):
    """An archive in memory; `version` is the initial version of its tables."""

    def __init__(self, version: int = ARCHIVE_VERSION) -> None:
        self._version = version
        super().__init__(":memory:")

    def _open(self, _seconds: float) -> Connection:
        return connect_archive(self.path, 0, self._version)


def drop_damaged(folder: str) -> None:
    """Delete a damaged replay of the journal in a folder. An intact one stays, because another process may just have
    made it.
    """
    path = find_scratch(folder, ARCHIVE_VERSION)
    try:
        with Archive(path or "", read_only=True) as archive:
            is_whole = archive.row("PRAGMA integrity_check(1)") == ("ok",)
    except (UnifiedStateError, DatabaseError):
        is_whole = False
    if not is_whole:
        remove_scratch(folder)


class Replayed(Record):
    """The outcome of a replay: the number of unusable lines, whether the journal may still have forgotten content, and
    the bytes that its rows need.
    """

    damaged: int
    unclean: bool
    whole: int


def replay_journal(archive: Archive, journal: Journal, tables: Tables) -> Replayed:
    """Load the journal into the archive. Raises NewerArchiveError. Call it within a transaction."""
    lines = _Lines(journal)
    version = lines.header.get(_TABLES, ARCHIVE_VERSION)
    if version < ARCHIVE_VERSION:
        left = replay(archive, tables, _upgraded(version, lines))
    else:
        left = replay(archive, tables, lines)
    rows = count_rows(archive, tables)
    return Replayed(
        journal.damaged + left,
        unclean=lines.unclean or version < ARCHIVE_VERSION,
        whole=journal.end * rows // max(1, lines.count, rows),
    )


def write_journal(archive: Archive, journal: Journal, tables: Tables) -> None:
    """Rewrite the journal from the archive's rows. Call it within a transaction, with the journal's lock held."""
    header = {_FORMAT: _VERSION, _TABLES: ARCHIVE_VERSION, _WHOLE: count_rows(archive, tables)}

    def lines() -> Iterator[Line]:
        yield header
        yield from all_lines(archive, tables)

    journal.rewrite(lines())


def takes_away(lines: Iterable[Line]) -> bool:
    """Return whether these lines delete content, so that earlier lines with that content must leave the journal."""
    return any(_LEAVING & line.keys() for line in lines)


class _Lines:
    """The lines of a journal after its header, their number, and whether the journal may still have forgotten
    content.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.count = 0
        self.unclean = False
        first = next((commit for commit in journal.commits() if commit), [{}])[0]
        self.header: dict[str, Any] = first if _FORMAT in first else {}
        versions = (self.header.get(_FORMAT, _VERSION), self.header.get(_TABLES, ARCHIVE_VERSION))
        if versions[0] != _VERSION or not isinstance(versions[1], int) or versions[1] > ARCHIVE_VERSION:
            message = f"the journal {journal.path} was written by a newer version"
            from unified_state.lib.package import upgrade_line  # rarely needed

            raise NewerArchiveError(message, f"upgrade unified-state: {upgrade_line()}")

    def __iter__(self) -> Iterator[Line]:
        whole = self.header.get(_WHOLE, 0)
        for commit in self._journal.commits():
            for line in commit:
                if _FORMAT not in line:
                    self.count += 1
                    self.unclean = self.unclean or (self.count > whole and takes_away([line]))
                    yield line


def _upgraded(version: int, lines: Iterable[Line]) -> Iterator[Line]:
    from unified_state.memory.archive.schema.archive_schema import migrate

    with MemoryArchive(version) as older:
        load(older, read_tables(older), lines)
        migrate(older.connection, older.path)
        yield from all_lines(older, read_tables(older))
