"""The archive as a store of history: the tables that hooks write, for copying and comparing histories.

An alias is the archive's own name for an item: a new item whose alias is taken, or was ever given, gets the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from sqlite3 import DatabaseError
from typing import Any, Self

from unified_state.archive.archive import Archive, explained
from unified_state.archive.sessions import session_number
from unified_state.ledger.item_table import items_called, list_items
from unified_state.model.history_records import (
    HistoryRecord,
    StoredCompaction,
    StoredItem,
    StoredLink,
    StoredSession,
    StoredStep,
    Tombstone,
)
from unified_state.upkeep.history.archive_changes import (
    bury,
    keep_compaction,
    keep_item,
    keep_link,
    keep_session,
    keep_steps,
)
from unified_state.upkeep.history.archive_rows import (
    as_stored,
    read_compactions,
    read_links,
    read_page,
    read_sessions,
)

_SECONDS = 30.0  # wait for another writer


class SqliteStore:
    """The archive at a path, which is created if it does not exist."""

    def __init__(self, path: str, *, archive: Archive | None = None) -> None:
        """Use an open archive, which closing the store leaves open; without one, open it."""
        self._is_ours = archive is None
        self._archive = archive or Archive(path, seconds=_SECONDS)

    def append(self, records: Iterable[HistoryRecord]) -> int:
        """Store records, all or none, and return the number of new ones."""
        given = list(records)  # read before the transaction: the source may be slow, or fail
        try:
            with self._archive.transaction():
                added = sum(self._keep(kind, list(run)) for kind, run in groupby(given, type))
        except DatabaseError as error:
            raise explained(error, self._archive.path) from error
        return added

    def _keep(self, kind: type[HistoryRecord], records: list[Any]) -> int:
        if kind is StoredStep:
            return keep_steps(self._archive, records)
        keep: dict[type, Callable[[Archive, Any], bool]] = {
            StoredSession: keep_session,
            StoredItem: keep_item,
            StoredLink: keep_link,
            StoredCompaction: keep_compaction,
            Tombstone: bury,
        }
        return sum(keep[kind](self._archive, record) for record in records)

    def sessions(self) -> Iterator[StoredSession]:
        """Return all sessions, in the order in which they were first seen."""
        return iter(read_sessions(self._archive))

    def steps(self, session_id: str, after: int = 0, limit: int = 1000) -> list[tuple[int, StoredStep]]:
        """Return a page of the steps of a session, with the positions that `read_page` gives."""
        number = session_number(self._archive, session_id)
        return [] if number is None else read_page(self._archive, number, session_id, after, limit)

    def items(self) -> Iterator[StoredItem]:
        """Return all items, in the order in which they were first appended."""
        return iter(as_stored(self._archive, list_items(self._archive)))

    def find_items(self, ref: str) -> list[StoredItem]:
        """Return the item with that UUID, or all that have or had that alias."""
        return as_stored(self._archive, items_called(self._archive, ref))

    def links(self) -> Iterator[StoredLink]:
        """Return all links between items."""
        return read_links(self._archive)

    def compactions(self) -> Iterator[StoredCompaction]:
        """Return all compactions that have a boundary, in the order in which they were first seen."""
        return iter(read_compactions(self._archive))

    def tombstones(self) -> Iterator[Tombstone]:
        """Return the tombstones of all forgotten records."""
        return (
            Tombstone(*row) for row in self._archive.rows("SELECT what, key, at FROM tombstone ORDER BY at, what, key")
        )

    def close(self) -> None:
        """Close the archive."""
        if self._is_ours:
            self._archive.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def everything(store: SqliteStore) -> Iterator[HistoryRecord]:
    """Yield all records of a store, in an order in which another store can append them: each after those it
    refers to.
    """
    for session in store.sessions():
        yield session
        position = 0
        while page := store.steps(session.session_id, position):
            yield from (step for _, step in page)
            position = page[-1][0]
    yield from store.compactions()
    yield from store.items()
    yield from store.links()
    yield from store.tombstones()
