"""Search many archives as if one had all their steps.

How rare a word is, and so how much it counts, is a matter of all archives together. Otherwise the best hit of each
archive would have the highest score that there is. So the words are counted in all archives first. Then each archive is
asked for its candidates, and the best of all are ranked together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from heapq import nlargest
from typing import TypeVar

from unified_state.archive.archive import Archive
from unified_state.archive.full_text import MOST_COUNTED, Filters, best_matches, count_having, count_steps, rarest
from unified_state.archive.steps import StepPosition
from unified_state.archive.word_forms import Forms, begins_in, forms_of, with_begins
from unified_state.errors import NotFoundError, UnifiedStateError
from unified_state.lib.query import query_words
from unified_state.lib.record import Record
from unified_state.model.item import ALIAS_LETTERS
from unified_state.model.step import Hit
from unified_state.search.meaning import Reader
from unified_state.search.search_archive import (
    APART,
    MOST_HITS,
    ParsedQuery,
    access_weights,
    item_hits,
    known_session,
    rank,
    step_hits,
    weights_of,
    with_neighbours,
)

T = TypeVar("T")

_OF_ONE, _OF_ALL = 60, 150  # candidates, for every limit


class _Candidates(Record):
    """The best steps of one archive with the worth of their words, the nearest in meaning with their cosines, both with
    their neighbours, and hits among the items.
    """

    items: list[Hit]
    worth: dict[int, float]
    near: dict[int, float]
    placed: dict[int, StepPosition]
    accessed: dict[int, float]
    cosines: dict[int, float]


class Search(Record):
    """What is looked for in many archives, and by whom. `prepare` is called for each open archive."""

    query: str
    limit: int
    session_id: str | None
    filters: Filters
    now: int
    prepare: Callable[[Archive], None]
    reader: Reader | None

    @property
    def words(self) -> list[str]:
        return query_words(self.query, MOST_COUNTED)

    @property
    def forms(self) -> Forms:
        return with_begins(forms_of(self.query, self.words), begins_in(self.words))

    def count(self, archive: Archive) -> tuple[int, dict[str, int]]:
        """Return the number of steps, and of those with each word. Raises NotFoundError."""
        self.within(archive)
        self.prepare(archive)
        steps = count_steps(archive)
        return steps, count_having(archive, self.words, steps, self.forms)

    def within(self, archive: Archive) -> Filters:
        """Return the filters, with the number that the session has in an archive. Raises NotFoundError."""
        name = self.session_id
        return self.filters if name is None else self.filters.replace(session=known_session(archive, name))

    def look(self, archive: Archive, asked: ParsedQuery, steps: int, counts: dict[str, int]) -> _Candidates:
        """Return the candidates of an archive. Words weigh what they weigh in all archives."""
        worth, near, meant, filters = {}, {}, None, self.within(archive)
        if filters.kind not in ALIAS_LETTERS:
            having = {word: counts[word] for word in asked.having}
            worth = best_matches(archive, having, steps, filters, _OF_ONE, asked.forms, rarity=asked.weights)
            if self.reader is not None:
                meant = self.reader.read(archive, asked.text, asked.having, asked.steps)
            near = {} if meant is None else meant.cosines(meant.nearest(filters, _OF_ONE))
        placed = with_neighbours(archive, {*worth, *near})
        accessed = access_weights(archive, {*worth, *near}, self.now)
        cosines = {} if meant is None else meant.cosines(placed)
        return _Candidates(item_hits(archive, asked), worth, near, placed, accessed, cosines)


def search_archives(paths: Iterable[str], search: Search) -> tuple[list[tuple[str, Hit]], list[UnifiedStateError]]:
    """Return the best hits, each with the path of its archive, the best first, and why archives were left out.

    Raises NotFoundError if no archive has the session.
    """
    problems: list[UnifiedStateError] = []
    counted = dict(_of_each(paths, search.count, problems))
    skipped = [problem for problem in problems if not isinstance(problem, NotFoundError)]
    if not counted and len(problems) > len(skipped):
        raise next(problem for problem in problems if problem not in skipped)
    total = sum(steps for steps, _ in counted.values())
    having = rarest({word: sum(counts[word] for _, counts in counted.values()) for word in search.words})
    # A session has another number in each archive.
    filters = search.filters if search.session_id is None else search.filters.replace(session=0)
    weights = weights_of(having, total)
    asked = ParsedQuery(search.query, weights, having, search.forms, total, search.session_id, filters, search.now)
    found = dict(
        _of_each(
            counted if having else (), lambda archive: search.look(archive, asked, *counted[archive.path]), skipped
        )
    )
    hits = [(path, hit) for path, one in found.items() for hit in one.items]
    hits += _steps(asked, found, min(search.limit, MOST_HITS))
    return sorted(hits, key=lambda one: rank(one[1]))[: max(0, search.limit)], skipped


def _of_each(
    paths: Iterable[str], action: Callable[[Archive], T], problems: list[UnifiedStateError]
) -> Iterator[tuple[str, T]]:
    """Yield what an action returns for each archive that can be read."""
    for path in paths:
        try:
            with Archive(path) as archive:
                result = action(archive)
        except UnifiedStateError as error:
            problems.append(error)
        else:
            yield path, result


def _steps(asked: ParsedQuery, found: dict[str, _Candidates], limit: int) -> Iterator[tuple[str, Hit]]:
    """Rank the best candidates of all archives together, and yield the hits among them."""
    paths = list(found)
    every = list(enumerate(found.values()))

    def apart(of: Callable[[_Candidates], dict[int, T]]) -> dict[int, T]:
        return {place * APART + number: value for place, one in every for number, value in of(one).items()}

    worth, near = apart(lambda one: one.worth), apart(lambda one: one.near)
    best = {number for by in (worth, near) for number in nlargest(_OF_ALL, by, key=by.__getitem__)}
    placed = {
        number: one.replace(session=number // APART * APART + one.session)
        for number, one in apart(lambda one: one.placed).items()
        if not best.isdisjoint((number - 1, number, number + 1))
    }
    asked = asked.replace(cosines=apart(lambda one: one.cosines))
    accessed = apart(lambda one: one.accessed)
    return ((paths[number // APART], hit) for number, hit in step_hits(asked, placed, best, accessed, limit))
