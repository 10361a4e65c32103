"""Search without an index: every line is looked at, the likeliest are read and scored as everywhere.

The first look (`json_scan`) counts the roots of the query's words in a line as it stands; the second takes a line apart
and knows its neighbours.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter, methodcaller

from unified_state.records.record import Record
from unified_state.rules.querying import is_single_cjk, query_words, region, words_of
from unified_state.rules.relevance import Looked, relevance
from unified_state.rules.word_roots import root_of
from unified_state.storage.steps import DATA_URL, readable
from unified_state.storage.tiers.json_around import lines_around
from unified_state.storage.tiers.json_forms import plain
from unified_state.storage.tiers.json_scan import Scan
from unified_state.storage.tiers.json_steps import is_copy, read_steps
from unified_state.storage.tiers.json_tables import Tables, session_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from unified_state.records.history import HistoryQuery, StoredStep
    from unified_state.storage.tiers.json_files import LineFiles

_READ = 400  # lines that are read of those that seem to match
_LOOKED_AT = 3_000  # characters of a step round its first matching word


class _Beside(Record):
    """A step that was read, and where its line begins and ends."""

    session: int
    begin: int
    end: int
    position: int
    step: StoredStep


def search(files: LineFiles, query: HistoryQuery) -> list[tuple[int, StoredStep, float]]:
    """Position, step and score of the best, the best first."""
    roots = list(dict.fromkeys(map(root_of, query_words(query.text))))
    if not roots or query.limit < 1:
        return []
    tables = Tables(files)
    uses = _uses_of(files, tables, query)

    def passes(step: Mapping[str, Any]) -> bool:
        return _passes(step, query, uses)

    has_filters = (query.kind, query.tool, query.since, query.until) != (None,) * 4
    most = max(_READ, query.limit)
    scan = Scan(files, roots, passes if has_filters else None, most, with_copies=query.session_id is not None)
    for number in _sessions(tables, query):
        scan.look(number)
    chosen = {(session, begin) for session, begin, _, _ in scan.best()}
    found = list(_with_neighbours(files, tables, chosen))
    scored = _scored(found, dict(zip(roots, scan.weights, strict=True)))
    hits = [
        (one.position, one.step, score)
        for one, score in zip(found, scored, strict=True)
        if score is not None and (one.session, one.begin) in chosen and passes(one.step.as_dict())
    ]
    return sorted(hits, key=lambda hit: (-hit[2], -hit[0]))[: query.limit]


def _sessions(tables: Tables, query: HistoryQuery) -> list[int]:
    """The numbers of the sessions in which is searched."""
    return [number for session_id, number in tables.numbers.items() if query.session_id in {None, session_id}]


def _with_neighbours(files: LineFiles, tables: Tables, chosen: Iterable[tuple[int, int]]) -> Iterator[_Beside]:
    """The steps of the chosen lines and those beside them."""
    for session, lines in groupby(sorted(chosen), key=itemgetter(0)):
        around = lines_around(files, session_file(session), [begin for _, begin in lines])
        for begin, line in around.items():
            for position, step in read_steps(files, tables, tables.names[session], [line]):
                yield _Beside(session, begin, begin + len(line), position, step)


def _scored(found: Sequence[_Beside], weights: Mapping[str, float]) -> list[float | None]:
    """The score of each step; None where it has none of the words."""
    beginning = {(one.session, one.begin): number for number, one in enumerate(found)}
    ending = {(one.session, one.end): number for number, one in enumerate(found)}
    looked = {}
    for number, one in enumerate(found):
        counts, length = _count(readable(plain(one.step)), weights)
        before, after = ending.get((one.session, one.begin)), beginning.get((one.session, one.end))
        looked[number] = Looked(number, one.session, before, after, counts, length)
    scores = relevance(looked, weights)
    return [round(scores[number], 4) if one.counts else None for number, one in looked.items()]


def _count(text: str, weights: Mapping[str, float]) -> tuple[dict[str, float], int]:
    """How often each root stands in a text, as a word; and how many words there are."""
    if text.startswith(DATA_URL):
        return {}, 0
    words = words_of(region(text, list(weights), _LOOKED_AT))
    counts: dict[str, float] = {}
    single = [root for root in weights if is_single_cjk(root)]
    for word in filter(methodcaller("startswith", tuple(weights)), words):  # a word begins with its root
        root = root_of(word)
        if root in weights:
            counts[root] = counts.get(root, 0.0) + 1
        for begin in single:
            if word.startswith(begin) and word != begin:
                counts[begin] = counts.get(begin, 0.0) + 1
    return counts, len(words)


def _uses_of(files: LineFiles, tables: Tables, query: HistoryQuery) -> set[str]:
    """The uses of the tool that is asked for, whose results count too."""
    if query.tool is None:
        return set()
    found = set()
    for number in _sessions(tables, query):
        lines = [line for line in files.lines(session_file(number)) if b'"tool":' in line or is_copy(line)]
        for _, step in read_steps(files, tables, tables.names[number], lines):
            if step.tool_use_id and _is_same(step.tool, query.tool):
                found.add(step.tool_use_id)
    return found


def _passes(step: Mapping[str, Any], query: HistoryQuery, uses: set[str]) -> bool:
    """Whether a step is of the kind, the tool and the time that are asked for."""
    return (
        query.kind in {None, step["kind"]}
        and (query.tool is None or _is_same(step.get("tool"), query.tool) or step.get("tool_use_id") in uses)
        and (query.since is None or step["at"] >= query.since)
        and (query.until is None or step["at"] < query.until)
    )


def _is_same(tool: str | None, other: str) -> bool:
    return (tool or "").lower() == other.lower()
