"""How well a step answers a query: BM25 over the step, over the step with its neighbours, and over its session.

BM25 is Robertson's and Zaragoza's (Foundations and Trends in Information Retrieval 3(4), 2009) with its usual
constants. What answers a question often stands beside the words that match it, so the window of neighbours counts most:
measured on LoCoMo, a window beats the step alone by ten points of recall at 10, and both together with the session are
best.
"""

from __future__ import annotations

from math import log

from unified_state.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_SATURATION, _LENGTH = 1.2, 0.75  # k1 and b
_LEAST_IDF = 0.05  # of a word that nearly every step has
_STEP, _WINDOW, _SESSION = 0.25, 1.0, 0.35
MOST = _STEP + _WINDOW + _SESSION
_BEFORE, _AFTER = 1.0, 0.5  # what the neighbours' words count in a window
_WINDOW_LENGTH = 2.5  # of the usual step


class Looked(Record):
    """A step that was looked at: its session, its neighbours, how often it has each word, how many words it has."""

    number: int
    session: int
    before: int | None
    after: int | None
    counts: Mapping[str, float]
    length: int


def inverse_frequency(steps: int, having: int) -> float:
    """The weight of a word that so many of all steps have. Others may add steps between the two counts."""
    others = max(0, steps - having)
    return max(_LEAST_IDF, log((others + 0.5) / (having + 0.5)))


def relevance(looked: Mapping[int, Looked], weights: Mapping[str, float]) -> dict[int, float]:
    """How well each step answers, between 0 and `MOST`; `weights` are the inverse frequencies of the query's words."""
    usual = sum(step.length for step in looked.values()) / (len(looked) or 1) or 1.0
    steps = {number: _bm25(step.counts, step.length / usual, weights) for number, step in looked.items()}
    windows = {}
    for number, step in looked.items():
        counts, length = _window(step, looked)
        windows[number] = _bm25(counts, length / (usual * _WINDOW_LENGTH), weights)
    sessions = _sessions(looked.values(), weights)
    best = [max(scores.values(), default=0.0) or 1.0 for scores in (steps, windows, sessions)]
    return {
        number: _STEP * steps[number] / best[0]
        + _WINDOW * windows[number] / best[1]
        + _SESSION * sessions[step.session] / best[2]
        for number, step in looked.items()
    }


def coverage(step: Looked, looked: Mapping[int, Looked], weights: Mapping[str, float]) -> float:
    """How much of the query's weight stands in a step and its neighbours, between 0 and 1."""
    counts, _ = _window(step, looked)
    return sum(weights[word] for word in counts) / (sum(weights.values()) or 1.0)


def _bm25(counts: Mapping[str, float], length: float, weights: Mapping[str, float]) -> float:
    """`length` is that of the text in lengths of the usual one."""
    norm = _SATURATION * (1 - _LENGTH + _LENGTH * length)
    return sum(weights[word] * count * (_SATURATION + 1) / (count + norm) for word, count in counts.items())


def _window(step: Looked, looked: Mapping[int, Looked]) -> tuple[dict[str, float], int]:
    counts, length = dict(step.counts), step.length
    for neighbour, weight in ((step.before, _BEFORE), (step.after, _AFTER)):
        beside = looked.get(neighbour) if neighbour is not None else None
        if beside is not None:
            length += beside.length
            for word, count in beside.counts.items():
                counts[word] = counts.get(word, 0.0) + weight * count
    return counts, length


def _sessions(looked: Iterable[Looked], weights: Mapping[str, float]) -> dict[int, float]:
    """How well each session answers, by the words of all its steps that were looked at."""
    counts: dict[int, dict[str, float]] = {}
    for step in looked:
        words = counts.setdefault(step.session, {})
        for word, count in step.counts.items():
            words[word] = words.get(word, 0.0) + count
    return {
        session: sum(weights[word] * count / (count + _SATURATION) for word, count in words.items())
        for session, words in counts.items()
    }
