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
from typing import TYPE_CHECKING

from unified_state.archive.archive import Archive
from unified_state.archive.full_text import (
    MOST_COUNTED,
    Filters,
    best_matches,
    count_having,
    count_steps,
    rarest,
    word_shares,
)
from unified_state.archive.steps import Placed
from unified_state.archive.word_forms import Forms, forms_of
from unified_state.errors import NotFoundError, UnifiedStateError
from unified_state.lib.query import query_words
from unified_state.lib.record import Record
from unified_state.model.item import ALIAS_LETTERS
from unified_state.model.step import Hit
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


class Query(Record):
    """A search in many archives: its text, and the words in that with their other forms."""

    text: str
    words: list[str]
    forms: Forms
    limit: int
    session_id: str | None
    filters: Filters
    now: int


class _Looked(Record):
    """What one archive has: the number of steps, how many of them have each word, hits among its items, and the best
    steps with how much each has of every word, in the order of `words`.
    """

    steps: int
    having: dict[str, int]
    words: list[str]
    items: list[Hit]
    candidates: dict[int, list[float]]


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
    """Return the best hits of all archives. `prepare` is called for each open archive, and returns problems."""
    looked: dict[str, _Looked] = {}
    problems: list[str] = []
    unknown: NotFoundError | None = None
    for path in paths:
        try:
            with Archive(path) as archive:
                prepared = prepare(archive)
                looked[path] = _look(archive, query)
                problems += prepared
        except NotFoundError as error:  # a session of another repository
            unknown = error
        except UnifiedStateError as error:
            problems.append(f"skipped: {error.message}")
    if not looked or not query.words or query.limit < 1:
        return Answers([], problems, None if looked else unknown)
    steps = sum(one.steps for one in looked.values())
    having = rarest({word: sum(one.having[word] for one in looked.values()) for word in query.words})
    asked = _asked(query, having, steps, 0)
    best = _best(looked, asked.weights)
    reader = open_reader() if query.filters.kind not in ALIAS_LETTERS else None
    if reader is not None:
        _add_nearest(best, list(looked), asked, reader)
    hits = [(path, hit) for path, one in looked.items() for hit in one.items]
    hits += _steps(asked, best, reader, query.limit, problems)
    return Answers(sorted(hits, key=lambda one: rank(one[1]))[: query.limit], problems, None)


def _asked(query: Query, having: dict[str, int], steps: int, session: int | None) -> Asked:
    """Return the query of one archive or of all. A session has a number in each archive."""
    filters = query.filters if query.session_id is None else query.filters.replace(session=session)
    weights = weights_of(having, steps)
    return Asked(query.text, weights, having, query.forms, steps, query.session_id, filters, query.now)


def _look(archive: Archive, query: Query) -> _Looked:
    """Return what one archive has. Raises NotFoundError if it does not have the session."""
    session = None if query.session_id is None else known_session(archive, query.session_id)
    steps = count_steps(archive)
    counts = count_having(archive, query.words, steps, query.forms)
    having = rarest(counts)
    asked = _asked(query, having, steps, session)
    numbers: list[int] = []
    if having and asked.filters.kind not in ALIAS_LETTERS:
        numbers = best_matches(archive, having, steps, asked.filters, _OF_ONE, asked.forms)
    shares = word_shares(archive, numbers, having, asked.forms) if numbers else {}
    items = item_hits(archive, asked) if having else []
    return _Looked(steps, counts, list(having), items, {number: shares[number] for number in numbers})


def _best(looked: dict[str, _Looked], weights: dict[str, float]) -> dict[str, set[int]]:
    """Return the best candidates of all archives, by the paths of these."""
    found: list[tuple[float, str, int]] = []
    for path, one in looked.items():
        of_words = [weights.get(word, 0.0) for word in one.words]
        for number, shares in one.candidates.items():
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
