"""What raises a step in a search beside its words: the time, the speaker or the file that the query names, and, a
little, that it was asked for before. What an agent itself looked up only repeats what it found, and stands below that.
"""

from __future__ import annotations

from unified_state.lib.query import file_names
from unified_state.model.step import TOOL_CALL
from unified_state.search.rules.query_dates import asks_when, tells_when, times_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    Text = tuple[str, Collection[str]]  # the text of a step, and the words of the query that stand in it

    from unified_state.model.step import Step

_SPEAKER, _TIME, _FILE, _WHEN, _ACCESSED, _LOOKUP = 0.5, 0.5, 0.3, 0.2, 0.1, -1.0
MOST_RAISED = _SPEAKER + _TIME + _FILE + _WHEN + _ACCESSED
_LOOKUPS = ("unified-state search ", "unified-state recall ")
_LOOKUP_TOOLS = ("archive_search", "archive_get_turn", "recall", "state_get", "why")  # of the MCP server
_LONGEST_NAME, _LONGEST_COMMAND, _LOOKED_AT = 40, 1_000, 3_000  # characters


class Raising:
    """What raises the steps for one query, whose words have these weights. `accessed` is how much each step was asked
    for before, between 0 and 1; `texts` are those of all steps that were looked at.
    """

    def __init__(
        self, query: str, weights: Mapping[str, float], now: int, accessed: Mapping[int, float], texts: Collection[Text]
    ) -> None:
        self._speakers = {speaker for text, _ in texts if (speaker := _speaker(text)) in weights}
        self._speaker = _SPEAKER * _likeness(self._speakers, weights, texts)
        self._times = times_of(query, now)
        self._asks_when = asks_when(query)
        self._files = file_names(query)
        self._accessed = accessed

    def of(self, number: int, step: Step, text: str) -> float:
        """How much a step is raised, at most by `MOST_RAISED`."""
        total = _TIME if self._times.holds(step.at) else 0.0
        total += self._speaker if _speaker(text) in self._speakers else 0.0
        total += _FILE if any(name in text for name in self._files) else 0.0
        total += _WHEN if self._asks_when and tells_when(text[:_LOOKED_AT]) else 0.0
        return total + _ACCESSED * self._accessed.get(number, 0.0)


def _speaker(text: str) -> str | None:
    """Who says a text that begins with a name."""
    name, colon, _ = text[:_LONGEST_NAME].partition(":")
    return name.lower() if colon else None


def _likeness(speakers: Collection[str | None], weights: Mapping[str, float], texts: Iterable[Text]) -> float:
    """How likely it is that the speakers whom a query names said what it asks for, between 0 and 1. People err: where
    somebody else said much more of it, whoever is named has hardly said it.
    """
    named = others = 0.0
    for text, words in texts:
        said = sum(weights[word] for word in words if word not in speakers)
        if _speaker(text) in speakers:
            named = max(named, said)
        else:
            others = max(others, said)
    return (named / others) ** 2 if named < others else 1.0


def lowered(steps: Iterable[tuple[Step, str]]) -> dict[str | None, float]:
    """The calls in which an agent searched or recalled, by their ids, and how much each is lowered with its result."""
    return {
        step.tool_use_id: _LOOKUP
        for step, text in steps
        if step.kind == TOOL_CALL and step.tool_use_id and _looks_up(step.tool or "", text)
    }


def _looks_up(tool: str, text: str) -> bool:
    if tool.startswith("mcp__"):
        return tool.rpartition("__")[2] in _LOOKUP_TOOLS
    return any(name in text[:_LONGEST_COMMAND] for name in _LOOKUPS)
