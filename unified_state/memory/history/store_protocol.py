"""The protocol of a history store. Its docstrings are the contract, which `tests.contracts` checks.

A store is opened for one project. Records of other projects cannot be read, found or changed through it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, Self, runtime_checkable

from unified_state.model.history_records import (
    Counts,
    HistoryHit,
    HistoryQuery,
    HistoryRecord,
    ItemHit,
    StepHit,
    StoredCompaction,
    StoredItem,
    StoredLink,
    StoredSession,
    StoredStep,
    Tombstone,
)


class HistoryStore(Protocol):
    """One project's history. Use it as `with open_store(…) as store: …`. Several processes may have it open at once.

    Every failure is an error of `unified_state.errors`, whose message has the problem and its place, and whose hint has
    the remedy.
    """

    def append(self, records: Iterable[HistoryRecord]) -> int:
        """Store records, all of them or none, and return the number of new ones.

        New steps, items, links, compactions and tombstones count, and so does a step that is new to a session. When the
        method returns, the records survive a crash of this process. A stored record stays unchanged and does not count,
        so a batch can be sent again.

        The newer version of a session, an item, a compaction or a step replaces the older one: an item by `changed_at`,
        a compaction if only the newer one has a summary, each field of a session by the last known value. Of two
        versions of a step or a compaction the one that was masked later replaces the other one everywhere.

        A session that a step or a compaction names is created if it has no record. An item whose alias is taken gets
        another alias, and is found by both. A tombstone deletes its record, and a later copy of that record is not
        stored.
        """

    def sessions(self) -> Iterator[StoredSession]:
        """Return all sessions, in the order in which they were first seen."""

    def steps(self, session_id: str, after: int = 0, limit: int = 1000) -> list[tuple[int, StoredStep]]:
        """Return a page of the steps of a session, in the order in which they were appended, each with its position.

        Positions are numbers of this store that only grow. `after` is the last position of the previous page.
        """

    def find_steps(self, uuid: str) -> list[StoredStep]:
        """Return the steps of a transcript entry, by block, with the session that had them first."""

    def items(self) -> Iterator[StoredItem]:
        """Return all items in every status, in the order in which they were first appended."""

    def find_items(self, ref: str) -> list[StoredItem]:
        """Return the item with that UUID, or all items that have or had that alias, the current owner first."""

    def links(self) -> Iterator[StoredLink]:
        """Return all links between items."""

    def compactions(self) -> Iterator[StoredCompaction]:
        """Return all compactions, in the order in which they were first appended."""

    def tombstones(self) -> Iterator[Tombstone]:
        """Return the tombstones of all forgotten records."""

    def search(self, query: HistoryQuery) -> list[HistoryHit]:
        """Return the best matching steps, best first. At least the steps with all words of the query are found."""

    def counts(self) -> Counts:
        """Return the number of sessions, steps, items and compactions."""

    def close(self) -> None:
        """Close files and connections. A closed store is not used again."""

    def __enter__(self) -> Self:
        """Return the store."""

    def __exit__(self, *_error: object) -> None:
        """Close the store."""


class VectorStore(Protocol):
    """The vectors of a store's steps."""

    @property
    def can_be_kept(self) -> bool:
        """True if the store can hold vectors. If not, `add` stores none."""

    def add(self, model: str, vectors: Iterable[tuple[str, int, Sequence[float]]]) -> int:
        """Store vectors of a model, each with the uuid and the block of its step, and return the number of new ones.

        A stored vector stays unchanged, and a step that is not in the store gets none. Vectors are deleted with their
        steps, and when a vector of another version of the model is added. `model` is its name, a space, and its
        version.
        """


@runtime_checkable
class KeepsVectors(Protocol):
    """A store that may have vectors of its steps, for `search`."""

    vectors: VectorStore


class MarkStore(Protocol):
    """The replication positions of the archives that are replicated to a store: a number for each, raised only by its
    owner.
    """

    def read(self, archive: str) -> int:
        """Return the number of an archive; 0 for an unknown one."""

    def keep(self, archive: str, mark: int) -> None:
        """Store a number, unless a larger one is stored."""


@runtime_checkable
class KeepsMarks(Protocol):
    """A store that can be restored from a backup, and so can lose acknowledged records."""

    marks: MarkStore


@runtime_checkable
class HasIdentity(Protocol):
    """A store with an id of its own, which it has under every address and after a recovery. Opening it is enough."""

    identity: str


class ItemsOfTeam(Protocol):
    """The items that members of a team share. Every number is the store's, and names one record of the project.

    A damaged record of another member is left out, also where `HistoryStore.search` finds one, and is counted in
    `skipped`.
    """

    @property
    def skipped(self) -> int:
        """The number of records that were left out since the store was opened."""

    def set_since(self, time: str) -> None:
        """Store items from before a time (ISO 8601) as not shared."""

    def search(self, text: str, limit: int) -> list[ItemHit]:
        """Return the items of other members that hold words of a text, those with the most words first."""

    def find_item(self, number: int) -> ItemHit | None:
        """Return the item with a number, or None if there is none that this member may read."""

    def find_step(self, number: int) -> StepHit | None:
        """Return the step with a number, or None if there is none that this member may read."""

    def find_source(self, hit: ItemHit) -> list[StepHit]:
        """Return the steps of the entry that an item was taken from, as far as this member may read them."""

    def fill_in_words(self) -> None:
        """Index the member's own items from before the store indexed any."""

    def count_private(self) -> int:
        """Return the number of the member's own items that others would find if they shared the earlier ones."""


@runtime_checkable
class SharesItems(Protocol):
    """A store in which members of a team find each other's items."""

    team: ItemsOfTeam


def everything(store: HistoryStore) -> Iterator[HistoryRecord]:
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
