"""What raises a step in a search beside its words: the time, the speaker or the file that the query names, and, a
little, that it was asked for before. What an agent itself looked up only repeats what it found, and stands below that.
"""

from __future__ import annotations

from unified_state.records.step import TOOL_CALL
from unified_state.rules.query_dates import asks_when, tells_when, times_of
from unified_state.rules.querying import file_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from unified_state.records.step import Step

_SPEAKER, _TIME, _FILE, _WHEN, _ACCESSED, _LOOKUP = 0.5, 0.5, 0.3, 0.2, 0.1, -1.0
MOST_RAISED = _SPEAKER + _TIME + _FILE + _WHEN + _ACCESSED
_LOOKUPS = ("unified-state search ", "unified-state recall ")
_LONGEST_NAME, _LONGEST_COMMAND, _LOOKED_AT = 40, 1_000, 3_000  # characters


class Raising:
    """What raises the steps for one query. `accessed` is how much each was asked for before, between 0 and 1."""

    def __init__(self, query: str, words: Iterable[str], now: int, accessed: Mapping[int, float]) -> None:
        self._words = set(words)
        self._times = times_of(query, now)
        self._asks_when = asks_when(query)
        self._files = file_names(query)
        self._accessed = accessed

    def of(self, number: int, step: Step, text: str) -> float:
        """How much a step is raised, at most by `MOST_RAISED`."""
        total = _TIME if self._times.holds(step.at) else 0.0
        name, colon, _ = text[:_LONGEST_NAME].partition(":")
        total += _SPEAKER if colon and name.lower() in self._words else 0.0
        total += _FILE if any(name in text for name in self._files) else 0.0
        total += _WHEN if self._asks_when and tells_when(text[:_LOOKED_AT]) else 0.0
        return total + _ACCESSED * self._accessed.get(number, 0.0)


def lowered(steps: Iterable[tuple[Step, str]]) -> dict[str | None, float]:
    """The calls in which an agent searched or recalled, by their ids, and how much each is lowered with its result."""
    return {
        step.tool_use_id: _LOOKUP
        for step, text in steps
        if step.kind == TOOL_CALL and step.tool_use_id and any(name in text[:_LONGEST_COMMAND] for name in _LOOKUPS)
    }
