"""Scores of a search: how well steps match a query by words, by meaning, and by the times, speakers and files in it.

Words count by BM25 (Robertson and Zaragoza, Foundations and Trends in Information Retrieval 3(4), 2009). It is applied
to the step, to the step with its neighbours, and to its session. The answer to a question is often next to the words
that match, so the neighbours of a short step count most: on LoCoMo they beat the step alone by ten points of recall at
10. A long step holds the answer itself, and its neighbours only dilute it. So their weight fades with the length of the
step and with their own length, and of a long step the best passage counts. Meaning counts over step, neighbours and
session too. Its weights were chosen on LoCoMo by cross-validation over the conversations.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from heapq import nlargest
from math import hypot, log, sqrt
from typing import TypeVar

from unified_state.lib.identifiers import mentioned_files
from unified_state.lib.query import words_of
from unified_state.lib.record import Record
from unified_state.model.step import PROMPT, TEXT, TOOL_CALL, Step
from unified_state.search.rules.query_dates import asks_when, tells_when, times_of

T = TypeVar("T")

_SATURATION, _LENGTH = 1.2, 0.9  # k1 and b of BM25
_LEAST_IDF = 0.05  # of a word in nearly every step
_STEP, _WINDOW, _SESSION = 0.15, 0.9, 0.35
_ANSWERED = 0.2  # for a prompt: the long answer after it repeats its words, and would often stand above it
MOST = _STEP + _WINDOW + _SESSION + _ANSWERED
PASSAGE = 250  # words of a longer step that count
_SHORT = 60  # words of a step whose neighbours count in full
# weights of the neighbours in a window, and of the step before the one before
_BEFORE, _AFTER, _EARLIER = 1.0, 0.5, 0.3
_WINDOW_LENGTH = 3.0  # relative to the usual step

_STEP_MEANT, _WINDOW_MEANT, _SESSION_MEANT = 0.8, 1.0, 0.3
MOST_MEANT = _STEP_MEANT + _WINDOW_MEANT + _SESSION_MEANT
MOST_FUSED = sqrt(2) * MOST  # maximum if meaning counts as much as words
_BEST = 3  # nearest steps that represent a session

_SPEAKER, _TIME, _FILE, _WHEN, _ACCESSED, _LOOKUP = 0.5, 0.5, 0.3, 0.2, 0.1, -1.0
MOST_RAISED = _SPEAKER + _TIME + _FILE + _WHEN + _ACCESSED
_LOOKUPS = ("unified-state search ", "unified-state show ", "unified-state recall ", "unified-state log")
_LOOKUP_TOOLS = ("search", "show", "list", "history", "restore", "blame")  # of the MCP server
_SAID = (PROMPT, TEXT)  # what may begin with the name of its speaker; a tool's output begins with the name of a value
_LONGEST_NAME, _LONGEST_COMMAND, _LOOKED_AT = 40, 1_000, 3_000  # characters


class CandidateStep(Record):
    """A candidate step: its session, its neighbours, the counts of the query's words, and its length in words.

    `passage` are the counts in the best passage of a step that is longer than `PASSAGE`.
    """

    number: int
    session: int
    before: int | None
    after: int | None
    counts: Mapping[str, float]
    length: int
    passage: Mapping[str, float] | None = None
    is_prompt: bool = False

    @property
    def best(self) -> Mapping[str, float]:
        """The counts in its best passage."""
        return self.counts if self.passage is None else self.passage

    @property
    def share(self) -> float:
        """The weight of neighbours, and its weight as a neighbour: less for a longer step."""
        return min(1.0, _SHORT / (self.length or 1))

    @property
    def neighbours(self) -> tuple[tuple[int, float], ...]:
        """The neighbours in its session, each with its weight in a window."""
        beside = (self.before, _BEFORE), (self.after, _AFTER)
        return tuple((number, weight) for number, weight in beside if number is not None)


def inverse_frequency(steps: int, having: int) -> float:
    """Return the weight of a word that `having` of all steps contain. Others may add steps between the two counts."""
    others = max(0, steps - having)
    return max(_LEAST_IDF, log((others + 0.5) / (having + 0.5)))


def relevance(
    looked: Mapping[int, CandidateStep], weights: Mapping[str, float], around: float = 1.0
) -> dict[int, float]:
    """Return the score of each step by its words, from 0 to `MOST`.

    `weights` are those of the query's words, and `around`, up to 1, is how far neighbours count.
    """
    usual = sum(min(step.length, PASSAGE) for step in looked.values()) / (len(looked) or 1) or 1.0
    steps = {number: _bm25(step.best, min(step.length, PASSAGE) / usual, weights) for number, step in looked.items()}
    windows = {}
    for number, step in looked.items():
        counts, length = _window(step, looked)
        windows[number] = _bm25(counts, length / (usual * _WINDOW_LENGTH), weights)
    sessions = _sessions(looked.values(), weights)
    best = [max(scores.values(), default=0.0) or 1.0 for scores in (steps, windows, sessions)]
    scores = {}
    for number, step in looked.items():
        beside = _WINDOW * step.share * around
        scores[number] = (
            (_STEP + _WINDOW - beside) * steps[number] / best[0]
            + beside * windows[number] / best[1]
            + _SESSION * around * sessions[step.session] / best[2]
            + _answered(step, looked)
        )
    return scores


def coverage(step: CandidateStep, looked: Mapping[int, CandidateStep], weights: Mapping[str, float]) -> float:
    """Return the share of the query's weight that a step and its neighbours have, from 0 to 1."""
    found = set(step.counts).union(*(looked[number].counts for number, _ in step.neighbours if number in looked))
    return sum(weights[word] for word in weights if word in found) / (sum(weights.values()) or 1.0)


def best_passage(places: Mapping[str, Iterable[int]], weights: Mapping[str, float]) -> dict[str, float]:
    """Return how often each word stands in the best `PASSAGE` words of a text. `places` has the places of each word."""
    found = sorted((place, word) for word, at in places.items() for place in at)
    counts: dict[str, float] = {}
    best, most, first = counts, 0.0, 0
    for place, word in found:
        counts[word] = counts.get(word, 0.0) + 1
        while found[first][0] <= place - PASSAGE:
            gone = found[first][1]
            counts[gone] -= 1
            if not counts[gone]:
                del counts[gone]
            first += 1
        worth = _bm25(counts, 1.0, weights)
        if worth > most:
            best, most = dict(counts), worth
    return best


def _bm25(counts: Mapping[str, float], length: float, weights: Mapping[str, float]) -> float:
    """Return the BM25 score of a text. `length` is relative to the usual length."""
    norm = _SATURATION * (1 - _LENGTH + _LENGTH * length)
    return sum(weights[word] * count * (_SATURATION + 1) / (count + norm) for word, count in counts.items())


def _window(step: CandidateStep, looked: Mapping[int, CandidateStep]) -> tuple[dict[str, float], float]:
    """Return the counts of a step with those beside it, each by its weight, and their length."""
    counts, length = dict(step.best), float(min(step.length, PASSAGE))
    for neighbour, weight in (*step.neighbours, *_earlier(step, looked)):
        other = looked.get(neighbour)
        if other is not None:
            share = other.share
            length += min(other.length, PASSAGE) * share
            for word, count in other.best.items():
                counts[word] = counts.get(word, 0.0) + weight * share * count
    return counts, length


def _earlier(step: CandidateStep, looked: Mapping[int, CandidateStep]) -> tuple[tuple[int, float], ...]:
    before = None if step.before is None else looked.get(step.before)
    return () if before is None or before.before is None else ((before.before, _EARLIER),)


def _answered(step: CandidateStep, looked: Mapping[int, CandidateStep]) -> float:
    """Return by how much to raise a prompt with a long answer."""
    answer = looked.get(step.after) if step.is_prompt and step.counts and step.after is not None else None
    return 0.0 if answer is None else _ANSWERED * (1 - answer.share)


def _sessions(looked: Iterable[CandidateStep], weights: Mapping[str, float]) -> dict[int, float]:
    """Return the score of each session by the words of all its candidates."""
    counts: dict[int, dict[str, float]] = {}
    for step in looked:
        words = counts.setdefault(step.session, {})
        for word, count in step.counts.items():
            words[word] = words.get(word, 0.0) + count
    return {
        session: sum(weights[word] * count / (count + _SATURATION) for word, count in words.items())
        for session, words in counts.items()
    }


def fused(
    relevances: Mapping[int, float], looked: Mapping[int, CandidateStep], cosines: Mapping[int, float], trust: float
) -> dict[int, float]:
    """Return the score of each step by its words and its meaning, from 0 to `MOST_FUSED`.

    `cosines` has the steps with a vector, and `trust` is the weight of meaning, up to 1. A step without a vector gets a
    nearness equal to its relevance by words. The sum is scaled to the spread of words alone, so that the amounts of
    `Boosts` keep their weight.
    """
    near = nearness(looked, cosines)
    wider = hypot(MOST, trust * MOST_MEANT) / MOST  # the spread of the sum of two independent errors
    return {
        number: (relevant + trust * near.get(number, relevant * MOST_MEANT / MOST)) / wider
        for number, relevant in relevances.items()
    }


def nearness(looked: Mapping[int, CandidateStep], cosines: Mapping[int, float]) -> dict[int, float]:
    """Return the nearness in meaning of each step with a vector, from 0 to `MOST_MEANT`."""
    steps = _stretched(cosines)
    windows = _stretched({number: _mean_of_window(looked[number], cosines) for number in cosines})
    of_sessions: dict[int, list[float]] = {}
    for number, step in looked.items():
        if number in cosines:
            of_sessions.setdefault(step.session, []).append(cosines[number])
    best = {session: nlargest(_BEST, values) for session, values in of_sessions.items()}
    sessions = _stretched({session: sum(values) / len(values) for session, values in best.items()})
    return {
        number: _STEP_MEANT * steps[number]
        + _WINDOW_MEANT * windows[number]
        + _SESSION_MEANT * sessions[looked[number].session]
        for number in cosines
    }


def _mean_of_window(step: CandidateStep, cosines: Mapping[int, float]) -> float:
    beside = [(number, weight) for number, weight in step.neighbours if number in cosines]
    total = cosines[step.number] + sum(weight * cosines[number] for number, weight in beside)
    return total / (1.0 + sum(weight for _, weight in beside))


def _stretched(values: Mapping[T, float]) -> dict[T, float]:
    """Return the values scaled to the range from 0 to 1."""
    least, greatest = min(values.values(), default=0.0), max(values.values(), default=0.0)
    breadth = (greatest - least) or 1.0
    return {key: (value - least) / breadth for key, value in values.items()}


def without(query: str, common: Container[str]) -> str:
    """Return the query without its common words, or the whole query if it has no others."""
    parts = (part for part in query.split() if not any(word in common for word in words_of(part)))
    return " ".join(parts) or query


class Boosts:
    """Raise steps that match the time, the speaker or the file in a query, and a little for earlier accesses.

    `words` are those of the query. `accessed` is the access level of each step, from 0 to 1.
    """

    def __init__(self, query: str, words: Container[str | None], now: int, accessed: Mapping[int, float]) -> None:
        self._words = words
        self._times = times_of(query, now)
        self._asks_when = asks_when(query)
        self._files = mentioned_files(query)
        self._accessed = accessed

    def of(self, number: int, step: Step, text: str) -> float:
        """Return by how much to raise a step: at most `MOST_RAISED`."""
        total = _TIME if self._times.holds(step.at) else 0.0
        total += _SPEAKER if step.kind in _SAID and _speaker(text) in self._words else 0.0
        total += _FILE if any(name in text for name in self._files) else 0.0
        total += _WHEN if self._asks_when and tells_when(text[:_LOOKED_AT]) else 0.0
        return total + _ACCESSED * self._accessed.get(number, 0.0)


def _speaker(text: str) -> str | None:
    """Return the name before the colon that a text begins with."""
    name, colon, _ = text[:_LONGEST_NAME].partition(":")
    return name.lower() if colon else None


def lowered(steps: Iterable[tuple[Step, str]]) -> dict[str | None, float]:
    """Return the amounts by which to lower the agent's own searches and recalls with their results, by call id.

    Their texts only repeat what they found.
    """
    return {
        step.tool_use_id: _LOOKUP
        for step, text in steps
        if step.kind == TOOL_CALL and step.tool_use_id and _looks_up(step.tool or "", text)
    }


def _looks_up(tool: str, text: str) -> bool:
    if tool.startswith("mcp__"):
        return "unified-state" in tool and tool.rpartition("__")[2] in _LOOKUP_TOOLS
    return any(name in text[:_LONGEST_COMMAND] for name in _LOOKUPS)
