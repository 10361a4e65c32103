"""The JSON tier: the history of a project in files of JSON Lines, for places without SQLite.

A session's steps lie in a file of their own, to which a save only adds. Search looks through all of them, so what it
costs grows with them: fine up to some 100,000 steps. One folder belongs to one project.
"""

from __future__ import annotations

import os

from unified_state.errors import NewerVersionError, StorageError
from unified_state.records.history import Counts
from unified_state.storage.tiers.json_batch import Batch
from unified_state.storage.tiers.json_cleaning import clean
from unified_state.storage.tiers.json_files import LineFiles
from unified_state.storage.tiers.json_forms import key_of, line_of, readable_fields
from unified_state.storage.tiers.json_steps import steps_behind
from unified_state.storage.tiers.json_tables import CLEANING, Tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import TracebackType
    from typing import Self

    from unified_state.records.history import (
        HistoryHit,
        HistoryQuery,
        HistoryRecord,
        StoredCompaction,
        StoredItem,
        StoredLink,
        StoredSession,
        StoredStep,
        Tombstone,
    )

VERSION = 1
_FORMAT = "store.json"
_LONGEST_NAME = 64


class JsonStore:
    """The history of one project in a folder below `folder`; see `HistoryStore` for what the verbs promise.

    `seconds` is how long to wait for another writer.
    """

    def __init__(self, folder: str, project: str, *, seconds: float = 10.0) -> None:
        self.files = LineFiles(os.path.join(folder, _folder_name(project)), seconds=seconds)
        self._project = project
        self._check_version()

    def append(self, records: Iterable[HistoryRecord]) -> int:
        """Keep records, all of them or none; how many are new."""
        records = list(records)
        with self.files:
            batch = Batch(self.files)
            for record in records:
                batch.add(record)
            additions = batch.additions
            if additions:
                if not self.files.read(_FORMAT):
                    additions[_FORMAT] = line_of({"version": VERSION, "project": self._project})
                self.files.append(additions)
            self._clean(is_asked=CLEANING in additions or not additions)
        return batch.count

    def _clean(self, *, is_asked: bool) -> None:
        """Who forgets is told where it fails. Whatever else was added is there, and the next one tries again."""
        try:
            clean(self.files)
        except StorageError:
            if is_asked:
                raise

    def sessions(self) -> Iterator[StoredSession]:
        """All sessions, in the order in which they were first heard of."""
        yield from Tables(self.files).sessions.values()

    def steps(self, session_id: str, after: int = 0, limit: int = 1000) -> list[tuple[int, StoredStep]]:
        """A page of the steps of a session, each with its position."""
        tables = Tables(self.files)
        if session_id not in tables.numbers:
            return []
        number = tables.numbers[session_id]
        return steps_behind(self.files, tables, session_id, number, after, limit)

    def find_steps(self, uuid: str) -> list[StoredStep]:
        """The steps of a transcript entry, by block."""
        tables, begin = Tables(self.files), key_of(uuid, 0)[:-1]
        owners = {key: number for key, number in tables.owners.items() if key.startswith(begin)}
        places = [(number, tables.places[key + b" %d" % number]) for key, number in owners.items()]
        found = [
            step
            for number, place in places
            if number in tables.names  # else the disk has changed what is told of the session
            for at, step in steps_behind(self.files, tables, tables.names[number], number, place - 1, 1)
            if at == place
        ]
        return sorted(found, key=lambda step: step.block)

    def items(self) -> Iterator[StoredItem]:
        """All items, in the order in which they were first appended."""
        yield from Tables(self.files).items.values()

    def find_items(self, ref: str) -> list[StoredItem]:
        """The item with that UUID, or all that have or had that alias, the one that has it now first."""
        items = Tables(self.files).items
        if ref in items:
            return [items[ref]]
        alias = ref.upper()
        found = [item for item in items.values() if alias in map(str.upper, (item.alias, *item.aliases))]
        return sorted(found, key=lambda item: item.alias.upper() != alias)

    def links(self) -> Iterator[StoredLink]:
        """All links between items."""
        yield from Tables(self.files).links.values()

    def compactions(self) -> Iterator[StoredCompaction]:
        """All compactions, in the order in which they were first appended."""
        yield from Tables(self.files).compactions.values()

    def tombstones(self) -> Iterator[Tombstone]:
        """Everything that was forgotten."""
        yield from Tables(self.files).tombstones.values()

    def search(self, query: HistoryQuery) -> list[HistoryHit]:
        """The steps that match best, the best first."""
        from unified_state.records.history import HistoryHit
        from unified_state.storage.tiers.json_search import search

        return [HistoryHit(step=step, score=score) for _, step, score in search(self.files, query)]

    def counts(self) -> Counts:
        """How much there is."""
        tables = Tables(self.files)
        return Counts(
            sessions=len(tables.sessions),
            steps=len(tables.owners.keys() - tables.gone),
            items=len(tables.items),
            compactions=len(tables.compactions),
        )

    def close(self) -> None:
        """Nothing is open between two calls."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()

    def _check_version(self) -> None:
        lines = self.files.lines(_FORMAT)
        version = next((fields.get("version") for fields in readable_fields(lines)), VERSION)
        if not isinstance(version, int) or version > VERSION:
            message = f"the history in {self.files.folder} has version {version}; this unified-state knows {VERSION}"
            raise NewerVersionError(message, "upgrade unified-state: pip install --upgrade unified-state")


def _folder_name(project: str) -> str:
    """A project's folder: its name where that can be one, else what stands for it."""
    plain = project.replace("-", "").replace("_", "")
    if plain.isalnum() and plain.isascii() and len(project) <= _LONGEST_NAME and project == project.lower():
        return project
    from hashlib import sha256  # ids of repositories are plain

    return sha256(project.encode("utf-8", "surrogatepass")).hexdigest()
