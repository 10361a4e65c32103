"""How near the meaning of a step is to that of a query: of the step, of the step with its neighbours, of its session.

The same three that count for words (see `relevance`), each stretched from its least to its greatest over 0 to 1, and
added to them. What each weighs was measured on LoCoMo, by cross-validation over its conversations. The sum is brought
back to the spread that words alone have, so that what raises a step beside them (`raising`) counts as it does there.
"""

from __future__ import annotations

from heapq import nlargest
from math import hypot, sqrt

from unified_state.lib.query import words_of
from unified_state.search.rules.relevance import MOST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping
    from typing import TypeVar

    from unified_state.search.rules.relevance import Looked

    T = TypeVar("T")

_STEP, _WINDOW, _SESSION = 0.8, 1.0, 0.3
MOST_MEANT = _STEP + _WINDOW + _SESSION
MOST_FUSED = sqrt(2) * MOST  # reached where meaning counts as much as words
_BEFORE, _AFTER = 1.0, 0.5  # what a neighbour counts in a window, as its words do
_BEST = 3  # steps of a session, which tell how near it is


def fused(
    relevances: Mapping[int, float], looked: Mapping[int, Looked], cosines: Mapping[int, float], trust: float
) -> dict[int, float]:
    """How well each step answers by its words and its meaning, between 0 and `MOST_FUSED`; `cosines` are those of the
    steps that have a vector, and `trust` is what these count, up to 1. A step without one is taken to be as near as its
    words are relevant.
    """
    near = nearness(looked, cosines)
    wider = hypot(MOST, trust * MOST_MEANT) / MOST  # as a sum of two that err apart from each other spreads
    return {
        number: (relevant + trust * near.get(number, relevant * MOST_MEANT / MOST)) / wider
        for number, relevant in relevances.items()
    }


def nearness(looked: Mapping[int, Looked], cosines: Mapping[int, float]) -> dict[int, float]:
    """How near each step is that has a vector, between 0 and `MOST_MEANT`."""
    steps = _stretched(cosines)
    windows = _stretched({number: _window(looked[number], cosines) for number in cosines})
    sessions = _stretched(_sessions(looked.values(), cosines))
    return {
        number: _STEP * steps[number] + _WINDOW * windows[number] + _SESSION * sessions[looked[number].session]
        for number in cosines
    }


def without(query: str, common: Container[str]) -> str:
    """The query without its common words, which tell no step from another; all of it where it has no others."""
    parts = (part for part in query.split() if not any(word in common for word in words_of(part)))
    return " ".join(parts) or query


def _window(step: Looked, cosines: Mapping[int, float]) -> float:
    """The mean over a step and those beside it that have a vector."""
    total, weights = cosines[step.number], 1.0
    for neighbour, weight in ((step.before, _BEFORE), (step.after, _AFTER)):
        if neighbour is not None and neighbour in cosines:
            total += weight * cosines[neighbour]
            weights += weight
    return total / weights


def _sessions(looked: Iterable[Looked], cosines: Mapping[int, float]) -> dict[int, float]:
    """The mean over the nearest steps of each session."""
    found: dict[int, list[float]] = {}
    for step in looked:
        if step.number in cosines:
            found.setdefault(step.session, []).append(cosines[step.number])
    best = {session: nlargest(_BEST, values) for session, values in found.items()}
    return {session: sum(values) / len(values) for session, values in best.items()}


def _stretched(values: Mapping[T, float]) -> dict[T, float]:
    """The values from 0, the least of them, to 1, the greatest."""
    least, greatest = min(values.values(), default=0.0), max(values.values(), default=0.0)
    breadth = (greatest - least) or 1.0
    return {key: (value - least) / breadth for key, value in values.items()}
