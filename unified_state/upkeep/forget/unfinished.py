"""The work that follows a deletion: what remains of the text is removed.

SQLite overwrites what it deletes, but a page that was split or joined may keep a copy of a row in an unused part. So a
small archive is written anew, for which others wait a tenth of a second. For a large one that is a command of its own.

The transaction that deletes text notes this work in the archive. If the process is killed before the work is done, the
next `forget`, `prune` or `scan --fix` does it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice

from unified_state.archive.archive import Archive
from unified_state.archive.text_columns import in_small_steps, rewrite_index

_UNFINISHED = "unfinished_deletion"
_AT_ONCE = 100  # steps in one transaction, for which a hook may have to wait
_SMALL = 10_000_000  # bytes of an archive


def in_parts(archive: Archive, steps: Iterable[int], work: Callable[[list[int]], None]) -> None:
    """Call work(part) for parts of some steps, each in a transaction for which others hardly wait."""
    left = iter(sorted(steps))

    def work_some() -> bool:
        some = list(islice(left, _AT_ONCE))
        if some:
            with archive.transaction():
                work(some)
        return bool(some)

    in_small_steps(work_some)


def note_unfinished(archive: Archive) -> None:
    """Note that text was deleted. Call it in the same transaction."""
    archive.set_meta(_UNFINISHED, "1")


def finish(archive: Archive) -> bool:
    """Do the noted work, and return False if there is none."""
    if archive.meta(_UNFINISHED) is None:
        return False
    rewrite_index(archive)
    if archive.size() <= _SMALL:
        archive.run("VACUUM")
    archive.run("DELETE FROM meta WHERE name = ?", _UNFINISHED)
    return True
