"""Move the full-text index of older steps into the table of newer ones, which is smaller, in small transactions.

The index answers meanwhile. A killed run loses one transaction, and the next one goes on from there.
"""

from __future__ import annotations

from unified_state.memory.archive.index.step_index import begin_newest_at, first_of_newest, tables, take_from_index
from unified_state.memory.archive.small_steps import in_small_steps, note_rewrite, rewrite_index
from unified_state.memory.archive.steps import NEWEST, OLDER, add_to_index, begin_forms, find_step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.archive.archive import Archive

_STEPS, _MOST_STEPS = 100, 5_000  # of a transaction: at first, and at most
_INDEXED = (
    "SELECT id FROM step WHERE id >= ? AND id < ? AND kind NOT NULL "
    "AND NOT EXISTS (SELECT 1 FROM unindexed WHERE step = step.id)"
)


def renew_index(archive: Archive) -> None:
    """Move the index of all older steps, the newest first. Then merge what is left of the older table: nothing."""
    if OLDER in tables(archive):
        for _ in in_small_steps(lambda steps: _renew_some(archive, steps), _STEPS, _MOST_STEPS):
            pass
    rewrite_index(archive)


def _renew_some(archive: Archive, steps: int) -> int:
    """Move the index of some steps. Return how many, 0 if no older ones are left."""
    with archive.transaction(durable=False):
        begin_forms(archive)
        end = first_of_newest(archive) or 1
        if end <= 1:
            return 0
        begin = max(1, end - steps)
        for number in archive.column(_INDEXED, begin, end):
            step = find_step(archive, number)
            if step is not None:
                take_from_index(archive, number, step)
                add_to_index(archive, number, step, NEWEST)
        note_rewrite(archive, begin)  # as long as it is an older step
        begin_newest_at(archive, min(begin, first_of_newest(archive) or begin))  # a damaged text ends the work
    return end - begin
