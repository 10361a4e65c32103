"""The tiers of `benchmarks/scale.py`: how each is opened, filled and asked."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.long_archive import BEGIN, sessions
from unified_state.archive.archive import Archive
from unified_state.archive.journal.journalled_archive import JournalledArchive
from unified_state.archive.steps import index_left
from unified_state.model.history_records import StoredStep
from unified_state.search.search_archive import search
from unified_state.upkeep.history.archive_changes import append

_BATCH = 2_000
_HITS = 10

TIERS: dict[str, Callable[[Path], Archive]] = {
    "sqlite": lambda place: Archive(str(place / "archive.db")),
    "json": lambda place: JournalledArchive(str(place / "history.jsonl")),
}


def fill(tier: str, place: Path, steps: int) -> float:
    """Append steps in batches, and return the seconds that this took."""
    seconds, written = 0.0, written_steps(steps)
    with TIERS[tier](place) as archive:
        while batch := list(itertools.islice(written, _BATCH)):
            begin = time.perf_counter()
            append(archive, batch)
            seconds += time.perf_counter() - begin
    return seconds


def written_steps(steps: int) -> Iterator[StoredStep]:
    """The steps of a long archive, as they travel between stores."""
    for session_id, written in sessions(steps):
        for step in written:
            yield StoredStep(**step.as_dict(), session_id=session_id)


def asker(archive: Archive) -> Callable[[str], object]:
    """Return the search of an open archive, whose index is complete."""
    with archive.transaction(durable=False):
        index_left(archive)
    return lambda query: search(archive, query, _HITS, now=BEGIN)
