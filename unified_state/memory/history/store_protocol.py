"""The protocol of a store of history. Its docstrings are the contract; `tests.contracts` checks
it.

A store is opened for one project. What it holds of others can neither be read, nor found, nor changed through it.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import TracebackType
    from typing import Self

    from unified_state.model.history_records import (
        Counts,
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


class HistoryStore(Protocol):
    """One project's history. `with open_store(…) as store: …`; several processes may have it open at once.

    Every failure is an error of `unified_state.errors`, with what and where as its message, and what to do as its hint.
    """

    def append(self, records: Iterable[HistoryRecord]) -> int:
        """Keep records, all of them or, if anything fails, none; the number of steps, items, links, compactions and
        tombstones that are new, or are new to a session. When it returns they survive a crash of this process.

        What is there already stays as it is and does not count, so that a batch can be sent again; but of a session,
        an item, a compaction and a step the newer version stays: an item by `changed_at`, a compaction by having a
        summary, a session with what was learned last of each field; and of a step and a compaction the one that was
        masked later, which takes the place of the other one wherever that stands. A session that a step or a compaction
        names, and nobody told of, is made. An item whose alias another one has gets another alias, and is found by
        both. What a tombstone names leaves, and what comes again later is not kept.
        """

    def sessions(self) -> Iterator[StoredSession]:
        """All sessions, in the order in which they were first heard of."""

    def steps(self, session_id: str, after: int = 0, limit: int = 1000) -> list[tuple[int, StoredStep]]:
        """A page of the steps of a session, in the order in which they were appended; each with its position, a number
        of this store's that only grows. `after` is the last position of the page before.
        """

    def find_steps(self, uuid: str) -> list[StoredStep]:
        """The steps of a transcript entry, by block, as of the session that had them first."""

    def items(self) -> Iterator[StoredItem]:
        """All items, whatever their status, in the order in which they were first appended."""

    def find_items(self, ref: str) -> list[StoredItem]:
        """The item with that UUID, or all that have or had that alias, the one that has it now first."""

    def links(self) -> Iterator[StoredLink]:
        """All links between items."""

    def compactions(self) -> Iterator[StoredCompaction]:
        """All compactions, in the order in which they were first appended."""

    def tombstones(self) -> Iterator[Tombstone]:
        """Everything that was forgotten."""

    def search(self, query: HistoryQuery) -> list[HistoryHit]:
        """The steps that match best, the best first; at least those that hold all words of the query are found."""

    def counts(self) -> Counts:
        """How much there is."""

    def close(self) -> None:
        """Let go of files and connections. A closed store is not used again."""

    def __enter__(self) -> Self:
        """Itself."""

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Close it."""


class VectorStore(Protocol):
    """Where a store keeps vectors of its steps."""

    @property
    def can_be_kept(self) -> bool:
        """Whether it can; else none is kept."""

    def add(self, model: str, vectors: Iterable[tuple[str, int, Sequence[float]]]) -> int:
        """Keep vectors of a model, each with the uuid and the block of its step; how many are new. What is there
        already stays, and a step that is not there gets none. They leave with their steps, and where the step has one
        of another version of the model now: a model is told as its name, a space, and its version.
        """


@runtime_checkable
class KeepsVectors(Protocol):
    """A store that may have vectors of its steps, for `search`."""

    vectors: VectorStore


class MarkStore(Protocol):
    """How far the archives are that are replicated to a store: for each a number that its owner alone raises."""

    def read(self, archive: str) -> int:
        """The number of an archive; 0 for one that is not known."""

    def keep(self, archive: str, mark: int) -> None:
        """Keep a number, unless a larger one is known."""


@runtime_checkable
class KeepsMarks(Protocol):
    """A store that can be restored from a backup, and so can lose what it was told."""

    marks: MarkStore


def everything(store: HistoryStore) -> Iterator[HistoryRecord]:
    """All that a store holds, in an order in which another one can take it: what an item comes from is there first."""
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
