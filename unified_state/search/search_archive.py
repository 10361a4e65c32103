"""Search the steps and items that match a query best.

The full-text index proposes candidates. `rules.relevance` scores them and their neighbours. A time, a speaker or a file
in the query raises the steps that match it, and earlier accesses raise a step a little. `_hit` builds all hits.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import inf
from typing import Any, Protocol

from unified_state.archive.archive import Archive
from unified_state.archive.full_text import (
    MOST_COUNTED,
    MOST_MATCHES,
    SAMPLE,
    Filters,
    best_matches,
    count_having,
    count_steps,
    count_words,
    find_words,
    rarest,
)
from unified_state.archive.sessions import known_session
from unified_state.archive.steps import DATA_URL, StepPosition, find_placed, readable
from unified_state.archive.word_forms import Forms, begins_in, forms_of, with_begins
from unified_state.ledger.item_table import ACTIVE, searched_items
from unified_state.lib.decay import raised, score
from unified_state.lib.query import has_any, names_file, query_words, region, snippet, words_of
from unified_state.lib.record import Record
from unified_state.lib.text import index_text, names_with_parts, one_line, parts_of_names
from unified_state.lib.times import to_milliseconds, to_text
from unified_state.model.item import ALIAS_LETTERS, LedgerItem
from unified_state.model.step import PROMPT, Hit
from unified_state.search.rules.relevance import (
    MOST,
    MOST_FUSED,
    MOST_RAISED,
    PASSAGE,
    Boosts,
    CandidateStep,
    best_passage,
    coverage,
    fused,
    inverse_frequency,
    lowered,
    relevance,
)

APART = 1 << 40  # between the numbers of two archives whose steps are ranked together
HALF_LIFE = 7 * 86_400_000.0  # milliseconds
MOST_HITS = 1_000
_PATIENCE = 250  # milliseconds
_CANDIDATES = 60  # ranked together; the weights are chosen for so many
_OF_SESSION, _AGAIN = 5, 0.05  # first steps of a session, and by how much each further one is lower than the one before
_LOOKED_AT = 3_000  # characters around the first matching word of a step
_SNIPPET = 240
TAKEN_BACK = "taken back"  # the status of a step that the user rewound
_ITEM, _WHOLE_ITEM = 2.0, MOST + MOST_RAISED  # an item that has all words ranks above any step
_HALF = 0.5
_FEW_STEPS = 500  # that have a word, which is then looked for as the begin of others too
_THOUGHT = 4  # words; shorter queries name something more often than they describe it
# How far neighbours count where too many steps match to rank them all: a step is then rarely the only one with words.
_CROWDED = 0.2
_FUSED = _WHOLE_ITEM / (MOST_FUSED + MOST_RAISED)  # keeps steps scored by meaning below an item that has all words


class QueryVector(Protocol):
    """The vector of a query, for comparison with those of one archive."""

    def cosines(self, steps: Collection[int]) -> dict[int, float]:
        """Return the cosine of each of the steps that has a vector, from -1 to 1."""

    def nearest(self, filters: Filters, limit: int) -> list[int]:
        """Return the steps nearest in meaning that pass the filters, the nearest first."""


class Reader(Protocol):
    """A reader of queries that uses a model."""

    def knows(self, archive: Archive) -> bool:
        """Return whether an archive has vectors of the model."""

    def read(self, archive: Archive, query: str, having: Mapping[str, int], steps: int) -> QueryVector | None:
        """Return the meaning of a query. `having` is the number of steps with each word."""

    def vector(self, query: str) -> tuple[str, list[float]] | None:
        """Return the full name of the model and the vector of a query."""


class ParsedQuery(Record):
    """A query: its text, its words with their weights (the heaviest first) and forms, the filters, the current time,
    and the cosines of steps that have a vector.
    """

    text: str
    weights: dict[str, float]
    having: dict[str, int]
    forms: Forms
    steps: int
    session_id: str | None
    filters: Filters
    now: int
    cosines: Mapping[int, float] = {}

    @property
    def words(self) -> list[str]:
        return list(self.weights)


def search(  # noqa: PLR0913  # three say what is looked for, the others how, and have defaults
    archive: Archive,
    query: str,
    limit: int,
    session_id: str | None = None,
    *,
    now: int = 0,
    filters: Filters | None = None,
    words: Sequence[str] | None = None,
    candidates: int = _CANDIDATES,
    reader: Reader | None = None,
    also: Sequence[LedgerItem] = (),
) -> list[Hit]:
    """Return the best hits, best first, at most 1,000. Raises NotFoundError for an unknown session.

    Any text is a query. Its words (or `words`) are searched and never parsed as operators. "Yesterday" is relative to
    `now`. So many `candidates` are ranked together. With a `reader` the meaning counts too. `also` are items of
    another archive.
    """
    filters = filters or Filters()
    if session_id is not None:
        filters = filters.replace(session=known_session(archive, session_id))
    words = query_words(query, MOST_COUNTED) if words is None else words
    steps = count_steps(archive)
    forms: Forms = forms_of(query, words)
    counts = count_having(archive, words, steps, forms)
    # To look for all words with a begin takes long where many steps have it, and finds nothing that is missed.
    begins = [word for word in begins_in(words) if counts[word] <= _FEW_STEPS]
    forms = with_begins(forms, begins)
    having = rarest({**counts, **count_having(archive, begins, steps, forms)})
    limit = min(limit, MOST_HITS)
    if not words or limit < 1:
        return []
    meant = reader.read(archive, query, having, steps) if reader is not None else None
    asked = ParsedQuery(query, weights_of(having, steps), having, forms, steps, session_id, filters, now)
    hits = item_hits(archive, asked) + hits_of_items(also, asked)
    if filters.kind not in ALIAS_LETTERS:
        hits += _steps(archive, asked, meant, limit, candidates)
    return sorted(hits, key=rank)[:limit]


def weights_of(having: dict[str, int], steps: int) -> dict[str, float]:
    """Return the weights of words by how many of the steps have each, the heaviest first."""
    least = round(steps / SAMPLE / 2)
    return {word: inverse_frequency(steps, max(having[word], least)) for word in sorted(having, key=having.__getitem__)}


def rank(hit: Hit) -> tuple[float, bool]:
    """Return the key that sorts hits: the best first, and of equal ones the items that still hold."""
    return -hit.score, hit.status not in {None, ACTIVE}


def note_accesses(archive: Archive, steps: Iterable[int], weight: float, now: int) -> None:
    """Record that steps were accessed, in a separate transaction.

    It hardly waits for other writers and never for the disk, because a lost record does no harm.
    """
    archive.run(f"PRAGMA busy_timeout = {_PATIENCE}")
    with archive.transaction(durable=False):
        levels = _levels(archive, steps)
        for step in steps:
            level = raised(levels.get(step), weight, now, HALF_LIFE)
            archive.run("INSERT OR REPLACE INTO access VALUES (?, ?)", step, level)


def access_weights(archive: Archive, steps: Iterable[int], now: int) -> dict[int, float]:
    """Return the access level of each step that was ever accessed: above 0, at most 1."""
    return {step: min(1.0, score(level, now, HALF_LIFE)) for step, level in _levels(archive, steps).items()}


def _levels(archive: Archive, steps: Iterable[int]) -> dict[int, float]:
    return dict(archive.rows(f"SELECT step, level FROM access WHERE step IN ({', '.join(map(str, steps))})"))


def _hit(words: list[str], text: str, total: float, share: float, **source: Any) -> Hit:
    """Return a hit. `source` has the fields of the step or item."""
    shown = snippet(one_line(text), words, _SNIPPET)
    return Hit(**source, score=round(total, 4), snippet=shown, coverage=round(share, 2))


def _steps(archive: Archive, asked: ParsedQuery, meant: QueryVector | None, limit: int, candidates: int) -> list[Hit]:
    """Return the best steps. Only so many candidates are ranked together, and the next ones follow, so that every limit
    has the same first hits.
    """
    most = max(candidates, limit)
    numbers = list(best_matches(archive, asked.having, asked.steps, asked.filters, most, asked.forms))
    found: dict[tuple[str, ...], Hit] = {}
    least = inf
    for begin in range(0, len(numbers) or 1, candidates):
        matches = set(numbers[begin : begin + candidates])
        if meant is not None and begin == 0:
            matches.update(meant.nearest(asked.filters, candidates))
        accessed, placed = access_weights(archive, matches, asked.now), with_neighbours(archive, matches)
        with_meaning = asked if meant is None else asked.replace(cosines=meant.cosines(placed))
        for _, hit in step_hits(with_meaning, placed, matches, accessed, limit):
            least = min(least, hit.score)
            found.setdefault(hit.uuids, hit.replace(score=least))
        if len(found) >= limit:
            break
    return list(found.values())


def step_hits(
    asked: ParsedQuery, placed: dict[int, StepPosition], matches: set[int], accessed: dict[int, float], limit: int
) -> list[tuple[int, Hit]]:
    """Return the numbers of the best of the placed steps with their hits. `matches` are those that the index proposed,
    and the others are beside one.
    """
    texts = {number: readable(found.step) for number, found in placed.items()}
    regions = {number: _region(text, asked, number in matches) for number, text in texts.items()}
    looked = _looked(placed, regions, asked)
    scores = relevance(looked, asked.weights, _CROWDED if sum(asked.having.values()) > MOST_MATCHES else 1.0)
    cosines = {number: asked.cosines[number] for number in looked if number in asked.cosines}
    if cosines:
        scores = fused(scores, looked, cosines, min(1.0, len(asked.having) / _THOUGHT))
    raising = Boosts(asked.text, set(asked.weights), asked.now, accessed)
    low = lowered((found.step, texts[number]) for number, found in placed.items())
    is_free = asked.filters == Filters()
    totals = {
        number: scores[number] + raising.of(number, found.step, texts[number]) + low.get(found.step.tool_use_id, 0.0)
        for number, found in placed.items()
        if number in matches or (is_free and scores[number] > 0 and not texts[number].startswith(DATA_URL))
    }
    chosen = _best(totals, placed)[:limit]
    words = _as_written([regions[number] for number in chosen], asked)
    scale = _FUSED if cosines else 1.0
    hits = []
    for number in chosen:
        share = max(coverage(looked[number], looked, asked.weights), cosines.get(number, 0.0))
        source = _source(number, placed[number], asked)
        hits.append((number, _hit(words, regions[number], totals[number] * scale, share, **source)))
    return hits


def _source(number: int, placed: StepPosition, asked: ParsedQuery) -> dict[str, Any]:
    step = placed.step
    return {
        "ref": f"S{number % APART}",
        "kind": step.kind,
        "uuids": (step.uuid,),
        "timestamp": to_text(step.at),
        "session_id": asked.session_id or placed.session_id,
        "status": TAKEN_BACK if placed.is_taken_back else None,
    }


def _best(totals: dict[int, float], placed: dict[int, StepPosition]) -> list[int]:
    """Return the steps, best first. Of several blocks of one entry only the best remains. After some steps of a session
    each further one is lowered in `totals`.
    """
    best: dict[tuple[int, str], int] = {}
    before: dict[int, int] = {}
    for number in sorted(totals, key=totals.__getitem__, reverse=True):
        if best.setdefault((number // APART, placed[number].step.uuid), number) == number:
            session = placed[number].session
            before[session] = before.get(session, 0) + 1
            totals[number] -= _AGAIN * max(0, before[session] - _OF_SESSION)
    return sorted(best.values(), key=totals.__getitem__, reverse=True)


def with_neighbours(archive: Archive, numbers: set[int]) -> dict[int, StepPosition]:
    """Return the steps and their neighbours in their sessions."""
    near = sorted({number + distance for number in numbers for distance in (-1, 0, 1)})
    found = find_placed(archive, near)
    places = {(number, found[number].session) for number in numbers if number in found}
    return {
        number: placed
        for number, placed in found.items()
        if any((number + distance, placed.session) in places for distance in (-1, 0, 1))
    }


def _region(text: str, asked: ParsedQuery, is_match: bool) -> str:
    """Return the text, or the part of a long text around the best words in any of their forms."""
    words = asked.words
    if is_match and len(text) > _LOOKED_AT and not has_any(text, words):
        words = _as_written([text], asked)
    return region(text, words, _LOOKED_AT)


def _as_written(texts: Iterable[str], asked: ParsedQuery) -> list[str]:
    """Return the words, each followed by its other forms in the texts: `planted` after `planting`."""
    starts = {form[:2] for word in asked.words for form in (word, *asked.forms.get(word, ()))}
    names: dict[str, str] = {}
    others: set[str] = set()
    for text in texts:
        names.update((name.lower(), parts) for name, parts in names_with_parts(text))
        others.update(word for word in words_of(text) if word[:2] in starts)
    written = sorted(others.union(names).difference(asked.words))
    found = count_words([f"{word} {names.get(word, '')}" for word in written], asked.words, asked.forms)
    both = list(zip(written, found, strict=True))
    return [form for word in asked.words for form in (word, *(other for other, counts in both if word in counts))]


def _indexed(text: str) -> str:
    """Return a text as the index has it: with the parts of the names in it."""
    return f"{index_text(text)} {parts_of_names(text)}"


def _looked(placed: dict[int, StepPosition], regions: dict[int, str], asked: ParsedQuery) -> dict[int, CandidateStep]:
    texts = list(map(_indexed, regions.values()))

    def beside(number: int, near: int) -> int | None:
        return near if near in placed and placed[near].session == placed[number].session else None

    looked = {}
    for number, text, places in zip(regions, texts, find_words(texts, asked.words, asked.forms), strict=True):
        length = len(text.split())
        looked[number] = CandidateStep(
            number=number,
            session=placed[number].session,
            before=beside(number, number - 1),
            after=beside(number, number + 1),
            counts={word: len(at) for word, at in places.items()},
            length=length,
            passage=best_passage(places, asked.weights) if length > PASSAGE else None,
            is_prompt=placed[number].step.kind == PROMPT,
        )
    return looked


def item_hits(archive: Archive, asked: ParsedQuery) -> list[Hit]:
    """Return the items that contain half of the words. Items are few, so all are read."""
    kind = asked.filters.kind if asked.filters.kind in ALIAS_LETTERS else None
    return hits_of_items(searched_items(archive, kind), asked)


def hits_of_items(given: Sequence[LedgerItem], asked: ParsedQuery) -> list[Hit]:
    """Return those of some items that contain half of the words."""
    items = [item for item in given if _passes(item, asked.session_id, asked.filters)]
    texts = list(map(_item_text, items))
    counts = count_words([_indexed(text) for text in texts], asked.words, asked.forms)
    shares = [len(found) / len(asked.words) for found in counts]
    matches = [match for match in zip(items, texts, shares, strict=True) if match[2] >= _HALF]
    words = _as_written([text for _, text, _ in matches], asked)
    hits = []
    for item, text, share in matches:
        uuids = (item.source_uuid,) if item.source_uuid else ()
        source = {"ref": item.alias, "kind": item.kind, "uuids": uuids, "timestamp": item.created_at}
        total = _WHOLE_ITEM if share == 1 else _ITEM * share
        hits.append(_hit(words, text, total, share, session_id=item.session_id, status=item.status, **source))
    return hits


def _passes(item: LedgerItem, session_id: str | None, filters: Filters) -> bool:
    at = to_milliseconds(item.created_at) or 0
    file = filters.file
    return (
        filters.tool is None
        and filters.turns is None
        and filters.kind in {None, item.kind}
        and session_id in {None, item.session_id}
        and (filters.since is None or at >= filters.since)
        and (filters.until is None or at < filters.until)
        and (file is None or any(names_file(text, file) for text in (_item_text(item), *item.files)))
    )


def _item_text(item: LedgerItem) -> str:
    return " ".join(value for value in item.body.values() if isinstance(value, str))
