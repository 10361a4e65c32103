"""Long work on an archive in small transactions, so that hooks never wait for more than one of them.

The full-text index is rewritten in this way. FTS5 only marks the words of a deleted step. It drops them when it merges
the segments that hold them. The archive notes that a merge is due, and that it has begun. After a kill the next process
goes on where the last one ended. (FTS5 can drop words at once since SQLite 3.42. But then no older SQLite can open the
index any more.)
"""

from __future__ import annotations

import time
from collections.abc import Callable

from unified_state.archive.archive import Archive

_REST = 0.02  # seconds between two transactions: SQLite looks for a lock from time to time
_REWRITE = "words_rewrite"  # name in `meta`
_DUE, _BEGUN = "due", "begun"
_PAGES = 256  # of the index, merged in one transaction
_NOTHING_MERGED = 1  # change that the statement itself counts


def in_small_steps(work: Callable[[], bool]) -> None:
    """Call work(), which runs one transaction, until it returns False, with a rest in which others get the lock."""
    while work():
        time.sleep(_REST)


def note_rewrite(archive: Archive) -> None:
    """Note that the index still has words of a deleted step. Call it in the transaction that deletes it."""
    archive.set_meta(_REWRITE, _DUE)


def rewrite_index(archive: Archive) -> None:
    """Merge the index until no segment is left that has words of deleted steps."""
    in_small_steps(lambda: _merge_some(archive))


def _merge_some(archive: Archive) -> bool:
    """Merge some pages. Return False if nothing is left to do."""
    with archive.transaction(durable=False):
        state = archive.meta(_REWRITE)
        if state is None:
            return False
        before = archive.connection.total_changes
        # a negative number makes all segments of now the input of one merge
        merge = "INSERT INTO step_words (step_words, rank) VALUES ('merge', ?)"
        archive.run(merge, -_PAGES if state == _DUE else _PAGES)
        if state == _DUE:
            archive.set_meta(_REWRITE, _BEGUN)
        elif archive.connection.total_changes - before <= _NOTHING_MERGED:
            archive.run("DELETE FROM meta WHERE name = ?", _REWRITE)
            return False
    return True
