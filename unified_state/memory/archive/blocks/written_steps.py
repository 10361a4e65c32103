"""The steps that an import has just written, so that what is derived from them need not read them back.

To find and unpack a text takes longer than to derive from it.
"""

from __future__ import annotations

from unified_state.memory.archive.steps import find_step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unified_state.memory.archive.archive import Archive
    from unified_state.model.step import Step

_LATEST = 1 << 62  # SQLite stores a time up to there unchanged


class WrittenSteps:
    """The steps of the last transaction. They count only until another process changes the archive: it may have
    forgotten one.
    """

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._steps: dict[int, Step] = {}
        self._version: int | None = None

    def keep(self, steps: dict[int, Step]) -> None:
        """Keep steps by their numbers in place of earlier ones. Call it in the transaction that writes them."""
        self._steps = {number: step for number, step in steps.items() if _is_stored_unchanged(step)}
        self._version = self._archive.value("PRAGMA data_version")

    def clear(self) -> None:
        """Give the memory back."""
        self._steps = {}

    def read(self, numbers: Sequence[int]) -> Iterator[Step]:
        """Yield the steps with these numbers that exist, as the archive has them. Call it in a transaction."""
        steps = self._steps if self._archive.value("PRAGMA data_version") == self._version else {}
        places = ", ".join(str(number) for number in numbers if number in steps)
        of_turns = f"SELECT step.id, agent FROM step JOIN turn ON turn.id = step.turn WHERE step.id IN ({places})"
        agents = dict(self._archive.rows(of_turns))
        for number in numbers:
            step = steps[number] if number in agents else find_step(self._archive, number)
            if step is not None:
                is_same = number not in agents or step.agent == agents[number]
                yield step if is_same else step.replace(agent=agents[number])


def _is_stored_unchanged(step: Step) -> bool:
    names = (step.uuid, step.tool or "", step.tool_use_id or "")
    return -_LATEST < step.at < _LATEST and all(map(str.isascii, names))
