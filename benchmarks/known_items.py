"""Known items: whether search finds a step again by some of its words, in an archive of `long_archive`.

A query has words of one step: common, medium or rare ones, or a question that also has words the step lacks. The step
is drawn from the oldest or the newest tenth. What is compared with is BM25 over every match (SQLite's FTS5).
"""

from __future__ import annotations

import random
import sqlite3
import statistics
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchmarks.long_archive import BEGIN, word
from unified_state.archive.archive import Archive
from unified_state.archive.full_text import count_steps
from unified_state.archive.steps import find_step, readable, searchable
from unified_state.lib.query import STOP_WORDS, fts_query, query_words, words_of
from unified_state.model.step import TEXT, THINKING, TOOL_CALL, TOOL_RESULT
from unified_state.search.search_archive import search

HITS = 10
_SEED = 77
_TENTH = 10
_KINDS = {TEXT, THINKING, TOOL_CALL, TOOL_RESULT}
_SHORTEST, _LONGEST = 20, 400  # words of a step that somebody looks for
# Ranks of words, as long_archive draws them, and how many of them are in a query.
_RANKS = {"common": (0, 100), "medium": (100, 2_000), "rare": (5_000, 200_000)}
_TAKEN = {"common": 4, "medium": 3, "rare": 2}
_QUESTIONS = (
    "why did we choose the {0} for the {1} {2}?",
    "what was the last error in the {0} {1} of {2}?",
    "how did the {0} test fail after the {1} {2}?",
    "when did we add the {0} of the {1} to the {2}?",
)


class Case(NamedTuple):
    """A query, and the step that it is about."""

    query: str
    step: int


class Result(NamedTuple):
    """How often the step was found, by every match and by the product, and what a search of the product took."""

    name: str
    exhaustive: float
    found: float
    overlap: float
    milliseconds: float


def measure(archive: Archive, every: Exhaustive, count: int) -> Iterator[Result]:
    """Each class of queries, in the oldest and in the newest tenth."""
    steps = count_steps(archive)
    for kind in (*_RANKS, "question"):
        for age, first in (("old", 1), ("new", steps - steps // _TENTH + 1)):
            own = random.Random(f"{_SEED} {kind} {age}")
            cases = list(_cases(archive, kind, first, steps // _TENTH, own, count))
            yield _result(archive, every, f"{kind}, {age}", cases)


class Exhaustive:
    """BM25 over every match of any of the words, by an index of its own, which has their frequencies."""

    def __init__(self, archive: Archive) -> None:
        self._index = sqlite3.connect("")  # in a temporary file
        self._index.execute("CREATE VIRTUAL TABLE step USING fts5 (text, content='', tokenize='porter unicode61')")
        self._index.executemany("INSERT INTO step (rowid, text) VALUES (?, ?)", _texts(archive))

    def best(self, query: str, limit: int = HITS) -> list[int]:
        """The best steps."""
        rows = self._index.execute(
            "SELECT rowid FROM step WHERE step MATCH ? ORDER BY bm25(step), rowid DESC LIMIT ?",
            (fts_query(query_words(query)), limit),
        )
        return [number for (number,) in rows]


def _texts(archive: Archive) -> Iterator[tuple[int, str]]:
    for number in range(1, count_steps(archive) + 1):
        step = find_step(archive, number)
        if step is not None:
            yield number, searchable(step)


def found_steps(archive: Archive, query: str, limit: int = HITS) -> list[int]:
    """The steps that the product finds."""
    return [int(hit.ref[1:]) for hit in search(archive, query, limit, now=BEGIN) if hit.ref.startswith("S")]


def _result(archive: Archive, every: Exhaustive, name: str, cases: Sequence[Case]) -> Result:
    best = [every.best(case.query) for case in cases]
    found, milliseconds = [], []
    for case in cases:
        begin = time.perf_counter()
        found.append(found_steps(archive, case.query))
        milliseconds.append((time.perf_counter() - begin) * 1000)
    shares = [len({*own} & {*ten}) / len(ten) for own, ten in zip(found, best, strict=True)]
    return Result(
        name,
        statistics.fmean(case.step in ten for case, ten in zip(cases, best, strict=True)),
        statistics.fmean(case.step in own for case, own in zip(cases, found, strict=True)),
        statistics.fmean(shares),
        statistics.median(milliseconds),
    )


def _cases(archive: Archive, kind: str, first: int, steps: int, own: random.Random, count: int) -> Iterator[Case]:
    given = 0
    while given < count:
        number = own.randrange(first, first + steps)
        query = _query(archive, kind, number, own)
        if query is not None:
            given += 1
            yield Case(query, number)


def _query(archive: Archive, kind: str, number: int, own: random.Random) -> str | None:
    """A query about a step, or None where it lacks the words."""
    step = find_step(archive, number)
    if step is None or step.kind not in _KINDS:
        return None
    words = words_of(readable(step))
    if not _SHORTEST <= len(words) <= _LONGEST:
        return None
    if kind == "question":
        medium, common = _of_ranks(words, "medium"), _of_ranks(words, "common")
        taken = [*own.sample(medium, min(2, len(medium))), *own.sample(common, min(1, len(common)))]
        own.shuffle(taken)
        return own.choice(_QUESTIONS).format(*taken) if len(taken) == 3 else None  # places
    known, wanted = _of_ranks(words, kind), _TAKEN[kind]
    return " ".join(own.sample(known, wanted)) if len(known) >= wanted else None


def _of_ranks(words: Sequence[str], kind: str) -> list[str]:
    """The distinct words of a text that have a rank of a class, in order."""
    first, end = _RANKS[kind]
    ranked = _NAMES.setdefault(kind, {name for rank in range(first, end) if (name := word(rank)) not in STOP_WORDS})
    return [name for name in dict.fromkeys(words) if name in ranked]


_NAMES: dict[str, set[str]] = {}
