"""Bring the full-text index of older steps to the form of new ones, in small transactions.

The index answers meanwhile. A killed run loses one transaction, and the next one goes on from there.
"""

from __future__ import annotations

from unified_state.memory.archive.small_steps import in_small_steps, note_rewrite, rewrite_index
from unified_state.memory.archive.steps import (
    DATA_URL,
    KIND_NUMBERS,
    WITHOUT_LINE_NUMBERS,
    begin_form_at,
    find_step,
    first_of_form,
    index_form,
    searchable,
)
from unified_state.model.step import TOOL_RESULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.archive.archive import Archive

_STEPS, _MOST_STEPS = 100, 5_000  # of a transaction: at first, and at most
_RESULTS = (
    "SELECT id FROM step WHERE id >= ? AND id < ? AND kind = ? "
    "AND NOT EXISTS (SELECT 1 FROM unindexed WHERE step = step.id)"
)


def renew_index(archive: Archive) -> None:
    """Take the numbers of lines out of the index of older steps, the newest first. Merge it if that changed it."""
    for _ in in_small_steps(lambda steps: _renew_some(archive, steps), _STEPS, _MOST_STEPS):
        pass
    rewrite_index(archive)


def _renew_some(archive: Archive, steps: int) -> int:
    """Renew the index of some steps. Return how many, 0 if no older ones are left."""
    with archive.transaction(durable=False):
        end = first_of_form(archive, WITHOUT_LINE_NUMBERS)
        if end is None or end <= 1:
            return 0
        begin = max(1, end - steps)
        numbers = archive.column(_RESULTS, begin, end, KIND_NUMBERS[TOOL_RESULT])
        if sum(_renew(archive, number) for number in numbers):
            note_rewrite(archive)
        begin_form_at(archive, WITHOUT_LINE_NUMBERS, begin)
    return end - begin


def _renew(archive: Archive, number: int) -> bool:
    """Renew the index of a step, and return whether that changed it."""
    step = find_step(archive, number)
    if step is None or step.text.startswith(DATA_URL):
        return False
    form = index_form(archive, number)
    before, after = searchable(step, form), searchable(step, form | WITHOUT_LINE_NUMBERS)
    if before == after:
        return False
    archive.run("INSERT INTO step_text (step_text, rowid, text) VALUES ('delete', ?, ?)", number, before)
    archive.run("INSERT INTO step_text (rowid, text) VALUES (?, ?)", number, after)
    return True
