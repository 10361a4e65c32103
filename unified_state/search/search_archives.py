"""Search many archives as if one had all their steps.

How rare a word is, and so how much it counts, is a matter of all archives together. Otherwise the best hit of each
archive would have the highest score that there is. So each archive is asked for its candidates, and how much of each
word they have. The best of them all, and those nearest in meaning, are then read, with their neighbours, and ranked
together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from heapq import nlargest
from typing import TYPE_CHECKING, Any

from unified_state.errors import NotFoundError, UnifiedStateError
from unified_state.lib.query import query_words
from unified_state.lib.record import Record
from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.full_text import (
    MOST_COUNTED,
    Filters,
    best_matches,
    count_having,
    count_steps,
    rarest,
    word_shares,
)
from unified_state.memory.archive.steps import Placed
from unified_state.memory.archive.word_forms import Forms, forms_of
from unified_state.model.item import ALIAS_LETTERS
from unified_state.model.step import Hit
from unified_state.search.in_parallel import each
from unified_state.search.search_archive import (
    APART,
    Asked,
    access_weights,
    item_hits,
    known_session,
    rank,
    step_hits,
    weights_of,
    with_neighbours,
)

if TYPE_CHECKING:
    from unified_state.search.query_meaning import Reader

_OF_ONE, _OF_ALL = 60, 150  # candidates, for every limit
_DIGITS = 4


class Query(Record):
    """A search in many archives: its text, and the words in that with their other forms."""

    text: str
    words: list[str]
    forms: Forms
    limit: int
    session_id: str | None
    filters: Filters
    now: int


class Answers(Record):
    """The hits, each with the path of its archive, the best first; problems; and why nothing could be searched."""

    hits: list[tuple[str, Hit]]
    problems: list[str]
    unknown: NotFoundError | None


def query_of(text: str, limit: int, session_id: str | None, filters: Filters, now: int) -> Query:
    """Return a search for a text."""
    words = query_words(text, MOST_COUNTED)
    return Query(text, words, forms_of(text, words), limit, session_id, filters, now)


def search_archives(
    paths: list[str], query: Query, prepare: Callable[[Archive], list[str]], open_reader: Callable[[], Reader | None]
) -> Answers:
    """Return the best hits of all archives. `prepare` is called for each open archive, and returns problems.

    A reader of meanings is only opened when no more processes are started: its libraries have threads.
    """

    def look(path: str) -> dict[str, Any]:
        return _look(path, query, prepare)

    looked = dict(zip(paths, each(look, paths), strict=True))
    problems = [problem for answer in looked.values() for problem in answer["problems"]]
    searched = {path: answer for path, answer in looked.items() if answer["is_searched"]}
    unknown = [answer["unknown"] for answer in looked.values() if answer["unknown"]]
    if not searched or not query.words or query.limit < 1:
        return Answers([], problems, NotFoundError(*unknown[-1]) if unknown and not searched else None)
    steps = sum(answer["steps"] for answer in searched.values())
    having = rarest({word: sum(answer["having"][word] for answer in searched.values()) for word in query.words})
    asked = _asked(query, having, steps, 0)
    hits = [(path, _as_hit(hit)) for path, answer in searched.items() for hit in answer["items"]]
    best = _best(searched, asked.weights)
    reader = open_reader() if query.filters.kind not in ALIAS_LETTERS else None
    if reader is not None:
        _add_nearest(best, list(searched), asked, reader)
    hits += _steps(asked, best, reader, query.limit, problems)
    return Answers(sorted(hits, key=lambda one: rank(one[1]))[: query.limit], problems, None)


def _asked(query: Query, having: dict[str, int], steps: int, session: int | None) -> Asked:
    """Return the query of one archive or of all. A session has a number in each archive."""
    filters = query.filters if query.session_id is None else query.filters.replace(session=session)
    weights = weights_of(having, steps)
    return Asked(query.text, weights, having, query.forms, steps, query.session_id, filters, query.now)


def _look(path: str, query: Query, prepare: Callable[[Archive], list[str]]) -> dict[str, Any]:
    """Return what one archive has: hits among its items, candidates among its steps."""
    found: dict[str, Any] = {"is_searched": False, "unknown": None, "problems": []}
    try:
        with Archive(path) as archive:
            problems = prepare(archive)
            session = None if query.session_id is None else known_session(archive, query.session_id)
            steps = count_steps(archive)
            counts = count_having(archive, query.words, steps, query.forms)
            having = rarest(counts)
            asked = _asked(query, having, steps, session)
            return {
                "is_searched": True,
                "unknown": None,
                "problems": problems,
                "steps": steps,
                "having": counts,
                "words": list(having),
                "items": [hit.as_dict() for hit in item_hits(archive, asked)] if having else [],
                "candidates": _candidates(archive, asked) if having else [],
            }
    except NotFoundError as error:  # a session of another repository
        return {**found, "unknown": [error.message, error.hint]}
    except UnifiedStateError as error:
        return {**found, "problems": [f"skipped: {error.message}"]}


def _candidates(archive: Archive, asked: Asked) -> list[list[Any]]:
    """Return the numbers of the best steps, each with how much it has of every word, in the order of the words."""
    if asked.filters.kind in ALIAS_LETTERS:
        return []
    numbers = best_matches(archive, asked.having, asked.steps, asked.filters, _OF_ONE, asked.forms)
    shares = word_shares(archive, numbers, asked.having, asked.forms) if numbers else {}
    return [[number, [round(share, _DIGITS) for share in shares[number]]] for number in numbers]


def _best(searched: dict[str, dict[str, Any]], weights: dict[str, float]) -> dict[str, set[int]]:
    """Return the best candidates of all archives, by the paths of these."""
    found: list[tuple[float, str, int]] = []
    for path, answer in searched.items():
        of_words = [weights.get(word, 0.0) for word in answer["words"]]
        for number, shares in answer["candidates"]:
            found.append((sum(map(float.__mul__, of_words, shares)), path, number))
    best: dict[str, set[int]] = {}
    for _, path, number in nlargest(_OF_ALL, found, key=lambda one: one[0]):
        best.setdefault(path, set()).add(number)
    return best


def _add_nearest(best: dict[str, set[int]], paths: list[str], asked: Asked, reader: Reader) -> None:
    """Add the steps of all archives that are nearest in meaning."""
    found: list[tuple[float, str, int]] = []
    for path in paths:
        with suppress(UnifiedStateError), Archive(path) as archive:
            meant = reader.read(archive, asked.text, asked.having, asked.steps)
            if meant is not None:
                filters = asked.filters
                if asked.session_id is not None:
                    filters = filters.replace(session=known_session(archive, asked.session_id))
                cosines = meant.cosines(meant.nearest(filters, _OF_ONE))
                found += [(cosine, path, number) for number, cosine in cosines.items()]
    for _, path, number in nlargest(_OF_ALL, found):
        best.setdefault(path, set()).add(number)


def _steps(
    asked: Asked, best: dict[str, set[int]], reader: Reader | None, limit: int, problems: list[str]
) -> Iterable[tuple[str, Hit]]:
    """Read the best candidates with their neighbours, and return the hits among them, each with its archive's path."""
    placed: dict[int, Placed] = {}
    matches: set[int] = set()
    accessed: dict[int, float] = {}
    cosines: dict[int, float] = {}
    trust = 0.0
    for place, (path, numbers) in enumerate(best.items()):
        try:
            with Archive(path) as archive:
                found = with_neighbours(archive, numbers)
                levels = access_weights(archive, numbers, asked.now)
                meant = reader.read(archive, asked.text, asked.having, asked.steps) if reader is not None else None
                near = {} if meant is None else meant.cosines(found)
        except UnifiedStateError as error:
            problems.append(f"skipped: {error.message}")
            continue
        trust = trust if meant is None else meant.trust
        apart = place * APART
        placed |= {apart + number: one.replace(session=apart + one.session) for number, one in found.items()}
        matches |= {apart + number for number in numbers}
        accessed |= {apart + number: level for number, level in levels.items()}
        cosines |= {apart + number: cosine for number, cosine in near.items()}
    if cosines:
        from unified_state.search.query_meaning import GivenCosines  # loaded by now

        asked = asked.replace(meant=GivenCosines(cosines, trust))
    paths = list(best)
    return [(paths[number // APART], hit) for number, hit in step_hits(asked, placed, matches, accessed, limit)]


def _as_hit(hit: dict[str, Any]) -> Hit:
    return Hit(**{**hit, "uuids": tuple(hit["uuids"])})
