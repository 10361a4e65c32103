"""Noting: what is made of the steps of a session beside the archive itself: its working set,
the facts in them, and which items came from them.

The hook that a prompt waits for only writes down which steps are new; the next one that nobody waits for notes them.
So every step is noted once and in order, whoever archived it.
"""

from __future__ import annotations

from unified_state.capture.find_facts import FactKeeper
from unified_state.memory.archive.step_queues import first_unnoted, mark_noted
from unified_state.memory.archive.steps import find_step
from unified_state.memory.ledger.watch_sources import SourceKeeper
from unified_state.memory.working_set.keep_working_set import WorkingSetKeeper

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.capture.record_facts import Head
    from unified_state.memory.archive.archive import Archive
    from unified_state.model.step import Step

_STEPS_AT_ONCE = 1_000


class Noter:
    """Notes the steps of one session, within one transaction; `flush` writes what came of it."""

    def __init__(self, archive: Archive, session: int, now: int, head: Head) -> None:
        self._archive = archive
        self._session = session
        self._keepers = (
            WorkingSetKeeper(archive, session),
            FactKeeper(archive, session, now, head),
            SourceKeeper(archive, session),
        )

    def note_postponed(self) -> None:
        """Take in what was archived and left for later; call it before anything that is newer."""
        while self._note_some():
            pass

    def note(self, step: Step) -> None:
        """Take in one step that is new in the archive."""
        for keeper in self._keepers:
            keeper.note(step)

    def flush(self) -> None:
        """Write what changed."""
        for keeper in self._keepers:
            keeper.flush()

    def _note_some(self) -> int:
        numbers = first_unnoted(self._archive, self._session, _STEPS_AT_ONCE)
        for number in numbers:
            step = find_step(self._archive, number)
            if step is not None:
                self.note(step)
        mark_noted(self._archive, self._session, numbers)
        return len(numbers)


def note_postponed(archive: Archive, session: int, now: int, head: Head) -> None:
    """Note the steps of a session that were archived without."""
    with archive.transaction(durable=False):
        noter = Noter(archive, session, now, head)
        noter.note_postponed()
        noter.flush()
