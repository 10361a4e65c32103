"""Long work on an archive in small transactions, so that hooks never wait for more than one of them.

The full-text index is rewritten in this way. FTS5 only marks the words of a deleted step. It drops them when it merges
the segments that hold them. The archive notes that a merge is due, and that it has begun. After a kill the next process
goes on where the last one ended. (FTS5 can drop words at once since SQLite 3.42. But then no older SQLite can open the
index any more.)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from unified_state.archive.archive import Archive

_SECONDS = 0.025  # that a transaction should take
_LEAST_REST, _MOST_REST = 0.002, 0.1  # SQLite looks for a lock at least ten times a second
_MOST_GROWTH = 4  # at most, from one transaction to the next
_REWRITE = "words_rewrite"  # name in `meta`
_DUE, _BEGUN = "due", "begun"
_LEAST_PAGES, _MOST_PAGES = 256, 4096  # of the index, merged in one transaction
_NOTHING_MERGED = 1  # change that the statement itself counts


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


def note_rewrite(archive: Archive) -> None:
    """Note that the index still has words of a deleted step. Call it in the transaction that deletes it."""
    archive.set_meta(_REWRITE, _DUE)


def rewrite_index(archive: Archive) -> None:
    """Merge the index until no segment is left that has words of deleted steps."""
    for _ in in_small_steps(lambda size: _merge_some(archive, size), _LEAST_PAGES, _MOST_PAGES):
        pass


def _merge_some(archive: Archive, pages: int) -> int:
    """Merge some pages. Return 0 if nothing is left to do."""
    with archive.transaction(durable=False):
        state = archive.meta(_REWRITE)
        if state is None:
            return 0
        before = archive.connection.total_changes
        # a negative number makes all segments of now the input of one merge
        archive.run("INSERT INTO step_words (step_words, rank) VALUES ('merge', ?)", -pages if state == _DUE else pages)
        if state == _DUE:
            archive.set_meta(_REWRITE, _BEGUN)
        elif archive.connection.total_changes - before <= _NOTHING_MERGED:
            archive.run("DELETE FROM meta WHERE name = ?", _REWRITE)
            return 0
    return pages
