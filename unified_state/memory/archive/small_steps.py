"""Long work on an archive in small transactions, so that hooks never wait for more than one of them.

The full-text index is rewritten in this way. FTS5 only marks the words of a deleted step. It drops them when it merges
the segments that hold them. The archive notes that a merge is due, and that it has begun. After a kill the next process
goes on where the last one ended. (FTS5 can drop words at once since SQLite 3.42. But then no older SQLite can open the
index any more.)
"""

from __future__ import annotations

import time

from unified_state.memory.archive.index.step_index import index_form, numbers_of
from unified_state.memory.archive.steps import NEWER, OLDER, table_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from unified_state.memory.archive.archive import Archive

_SECONDS = 0.025  # that a transaction should take
_LEAST_REST, _MOST_REST = 0.002, 0.1  # SQLite looks for a lock at least ten times a second
_MOST_GROWTH = 4  # at most, from one transaction to the next
_REWRITE = {OLDER: "index_rewrite", NEWER: "words_rewrite"}  # names in `meta`
_DUE, _BEGUN = "due", "begun"
_LEAST_PAGES, _MOST_PAGES = 256, 4096  # of the index, merged in one transaction
_STRUCTURE = 10  # the number of the record of the segments


def in_small_steps(work: Callable[[int], int], least: int, most: int) -> Iterator[int]:
    """Call work(size), which runs one transaction, until it returns 0. Yield what it returns.

    The size follows the time that the work takes, but where the disk is slow a smaller size would only add commits.
    After each call this process rests for as long as the call took, because a writer that waits for the lock only looks
    for it from time to time.
    """
    size = least
    while True:
        begun = time.monotonic()
        done = work(size)
        taken = time.monotonic() - begun
        if not done:
            return
        yield done
        wanted = round(size * min(_MOST_GROWTH, _SECONDS / max(taken, _LEAST_REST)))
        size = max(least, min(most, wanted))
        time.sleep(max(_LEAST_REST, min(_MOST_REST, taken)))


def note_rewrite(archive: Archive, step: int) -> None:
    """Note that the index still has words of a deleted step. Call it in the transaction that deletes it."""
    archive.set_meta(_REWRITE[table_of(index_form(archive, step))], _DUE)


def rewrite_index(archive: Archive, report: Callable[[int], None] = lambda _pages: None) -> None:
    """Merge the index until no segment is left that has words of deleted steps. `report` gets numbers of pages."""
    for pages in in_small_steps(lambda size: _merge_some(archive, size), _LEAST_PAGES, _MOST_PAGES):
        report(pages)


def pages_to_rewrite(archive: Archive) -> int:
    """Return the approximate number of pages that a due rewrite of the index merges; 0 if none is due."""
    return sum(
        last - first + 1
        for table, note in _REWRITE.items()
        if archive.meta(note) is not None
        for _, segments in _levels(archive, table)
        for first, last in segments
    )


def _merge_some(archive: Archive, pages: int) -> int:
    """Merge some pages. Return 0 if nothing is left to do."""
    return next((pages for table in _REWRITE if _merge_some_of(archive, table, pages)), 0)


def _merge_some_of(archive: Archive, table: str, pages: int) -> bool:
    """Merge some pages of a table. Return False if nothing is left to do."""
    with archive.transaction(durable=False):
        note = _REWRITE[table]
        state = archive.meta(note)
        if state is None:
            return False
        if state == _DUE:  # a negative number makes all segments of now the input of one merge
            archive.run(f"INSERT INTO {table} ({table}, rank) VALUES ('merge', ?)", -pages)
            archive.set_meta(note, _BEGUN)
        elif any(merging for merging, _ in _levels(archive, table)):
            archive.run(f"INSERT INTO {table} ({table}, rank) VALUES ('merge', ?)", pages)
        else:
            archive.run("DELETE FROM meta WHERE name = ?", note)
            return False
    return True


def _levels(archive: Archive, table: str) -> list[tuple[int, list[tuple[int, int]]]]:
    """Return the levels of a table: of each the number of segments that are being merged, and the first and the last
    page of every segment.
    """
    (block,) = archive.row(f"SELECT block FROM {table}_data WHERE id = {_STRUCTURE}")
    numbers = numbers_of(block[4:])  # behind the cookie of the configuration
    levels, _segments, _written = (next(numbers) for _ in range(3))
    found = []
    for _ in range(levels):
        merging, count = next(numbers), next(numbers)
        found.append((merging, [(next(numbers), next(numbers), next(numbers))[1:] for _ in range(count)]))
    return found
