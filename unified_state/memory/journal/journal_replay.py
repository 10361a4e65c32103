"""A whole journal and an archive: the one is replayed into the other, or written anew from it.

The first line tells the version of the tables whose rows follow. Rows of an older version are loaded into tables of
that version and brought to this one, as an archive would be.
"""

from __future__ import annotations

from unified_state.errors import NewerArchiveError, UnifiedStateError
from unified_state.lib.record import Record
from unified_state.lib.stdlib import DatabaseError
from unified_state.memory.archive.archive import ARCHIVE_VERSION, Archive, connect_archive
from unified_state.memory.journal.journal_rows import all_lines, count_rows, load, read_tables, replay
from unified_state.memory.journal.scratch_database import find_scratch, remove_scratch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from unified_state.lib.stdlib import Connection
    from unified_state.memory.journal.journal import Journal
    from unified_state.memory.journal.journal_rows import Line, Tables

_FORMAT, _VERSION = "journal", 1
_TABLES, _WHOLE = "archive", "whole"  # the version of the tables; how many of the lines were written at once
_LEAVING = frozenset(("tombstone", "pruned"))  # with a row in one of these other rows lose what they held


class MemoryArchive(Archive):
    """An archive that is gone when it is closed; `version` is that of its tables at first."""

    def __init__(self, version: int = ARCHIVE_VERSION) -> None:
        self._version = version
        super().__init__(":memory:")

    def _open(self, _seconds: float) -> Connection:
        return connect_archive(self.path, 0, self._version)


def drop_damaged(folder: str) -> None:
    """Remove what the journal in a folder was replayed into, unless it is whole: another process may have made it."""
    path = find_scratch(folder, ARCHIVE_VERSION)
    try:
        with Archive(path or "", read_only=True) as archive:
            is_whole = archive.row("PRAGMA integrity_check(1)") == ("ok",)
    except (UnifiedStateError, DatabaseError):
        is_whole = False
    if not is_whole:
        remove_scratch(folder)


class Replayed(Record):
    """What a replay met: how many lines could not be used, whether what was forgotten may still stand in the journal,
    how many bytes its rows need.
    """

    damaged: int
    unclean: bool
    whole: int


def replay_journal(archive: Archive, journal: Journal, tables: Tables) -> Replayed:
    """Make the archive hold what the journal says. Raises NewerArchiveError. Call it within a transaction."""
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
    """Write the journal anew from the archive's rows. Call it within a transaction, with the journal's lock held."""
    header = {_FORMAT: _VERSION, _TABLES: ARCHIVE_VERSION, _WHOLE: count_rows(archive, tables)}

    def lines() -> Iterator[Line]:
        yield header
        yield from all_lines(archive, tables)

    journal.rewrite(lines())


def takes_away(lines: Iterable[Line]) -> bool:
    """Whether rows lose with these lines what they held, so that it is to leave the journal."""
    return any(_LEAVING & line.keys() for line in lines)


class _Lines:
    """The lines of a journal but its first, and what they tell of themselves."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.count = 0
        self.unclean = False
        first = next((commit for commit in journal.commits() if commit), [{}])[0]
        self.header: dict[str, Any] = first if _FORMAT in first else {}
        versions = (self.header.get(_FORMAT, _VERSION), self.header.get(_TABLES, ARCHIVE_VERSION))
        if versions[0] != _VERSION or not isinstance(versions[1], int) or versions[1] > ARCHIVE_VERSION:
            message = f"the history {journal.path} was written by a newer version"
            raise NewerArchiveError(message, "upgrade unified-state: pip install --upgrade unified-state")

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
