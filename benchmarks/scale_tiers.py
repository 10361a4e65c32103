"""The tiers of `benchmarks/scale.py`: how each is opened, filled and asked."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from benchmarks.long_archive import BEGIN, sessions
from unified_state.archive.archive import Archive
from unified_state.archive.journal.journalled_archive import JournalledArchive
from unified_state.model.history_records import HistoryQuery, StoredStep
from unified_state.search.search_archive import search
from unified_state.upkeep.history.archive_store import SqliteStore

_PROJECT = "scale"
_BATCH = 2_000
_HITS = 10
Ask = Callable[[str], object]


@dataclass(frozen=True)
class Way:
    """A way to ask, of which a client takes one; and what is written before, in how many seconds of the tier's own."""

    ask: Callable[[Path, ExitStack], Ask]
    writes: str
    write: Callable[[Path, int], float]


@dataclass(frozen=True)
class Tier:
    """The ways to ask a tier, each over what those before it have written."""

    ways: dict[str, Way]


def _append(open_store: Callable[[Path], SqliteStore]) -> Callable[[Path, int], float]:
    def append(place: Path, steps: int) -> float:
        seconds, written = 0.0, written_steps(steps)
        with open_store(place) as store:
            while batch := list(itertools.islice(written, _BATCH)):
                begin = time.perf_counter()
                store.append(batch)
                seconds += time.perf_counter() - begin
        return seconds

    return append


def written_steps(steps: int) -> Iterator[StoredStep]:
    """The steps of a long archive, as they travel between stores."""
    for session_id, written in sessions(steps):
        for step in written:
            yield StoredStep(**step.as_dict(), session_id=session_id)


def _store_asks(open_store: Callable[[Path], SqliteStore]) -> Callable[[Path, ExitStack], Ask]:
    def asks(place: Path, stack: ExitStack) -> Ask:
        store = stack.enter_context(open_store(place))
        return lambda query: store.search(HistoryQuery(text=query, limit=_HITS))

    return asks


def _ranked_asks(place: Path, stack: ExitStack) -> Ask:
    archive = stack.enter_context(Archive(_archive_path(place)))
    return lambda query: search(archive, query, _HITS, now=BEGIN)


def _archive_path(place: Path) -> str:
    return str(place / "archive.db")


def _open_sqlite(place: Path) -> SqliteStore:
    return SqliteStore(_archive_path(place))


class _JournalStore(SqliteStore):
    def __init__(self, folder: str) -> None:
        self._journalled = JournalledArchive(os.path.join(folder, "history.jsonl"))
        super().__init__("", archive=self._journalled)

    def close(self) -> None:
        self._journalled.connection.close()


def _open_json(place: Path) -> SqliteStore:
    return _JournalStore(str(place / _PROJECT))


TIERS = {
    "sqlite": Tier(
        {
            "sqlite": Way(_store_asks(_open_sqlite), "steps", _append(_open_sqlite)),
            "sqlite (ranked)": Way(_ranked_asks, "steps", _append(_open_sqlite)),
        }
    ),
    "json": Tier({"json": Way(_store_asks(_open_json), "steps", _append(_open_json))}),
}
