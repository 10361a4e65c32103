"""Search without an index: every line is looked at, the likeliest are read and scored as everywhere.

The first look counts the roots of the query's words in a line as it stands, which is fast and takes too much for a
match; the second takes a line apart and knows its neighbours. A search costs about a second for 100,000 steps.
"""

from __future__ import annotations

from heapq import nlargest

from unified_state.records.record import Record
from unified_state.rules.querying import is_single_cjk, query_words, region, words_of
from unified_state.rules.relevance import Looked, inverse_frequency, relevance
from unified_state.rules.word_roots import root_of
from unified_state.storage.steps import DATA_URL, readable
from unified_state.storage.tiers.json_forms import fields_of, plain
from unified_state.storage.tiers.json_steps import read_steps
from unified_state.storage.tiers.json_tables import Tables, session_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from unified_state.records.history import HistoryQuery, StoredStep
    from unified_state.storage.tiers.json_files import LineFiles

_READ = 400  # lines that are read of those that seem to match
_LOOKED_AT = 3_000  # characters of a step round its first matching word
_COPY, _HEAD = b',"of":[', 40  # what a copy's line has in its first bytes


class _Line(Record):
    """A line that seems to match: its session, its place in the file, how often it has each root."""

    session: int
    index: int
    counts: tuple[int, ...]
    size: int


class _Beside(Record):
    """A step that was read, and where it stands."""

    session: int
    index: int
    position: int
    step: StoredStep


def search(files: LineFiles, query: HistoryQuery) -> list[tuple[int, StoredStep, float]]:
    """Position, step and score of the best, the best first."""
    words = query_words(query.text)
    if not words or query.limit < 1:
        return []
    tables = Tables(files)
    roots = [root_of(word) for word in words]
    lines, total = _likely(files, tables, query, roots)
    having = [sum(line.counts[place] > 0 for line in lines) for place in range(len(roots))]
    weights = {root: inverse_frequency(total, have) for root, have in zip(roots, having, strict=True)}
    usual = sum(line.size for line in lines) / (len(lines) or 1)

    def worth(line: _Line) -> tuple[int, float]:
        norm = 0.3 + 0.9 * line.size / usual
        told = zip(roots, line.counts, strict=True)
        return sum(map(bool, line.counts)), sum(weights[root] * n / (n + norm) for root, n in told)

    best = nlargest(max(_READ, query.limit), lines, key=worth)
    return _scored(files, tables, query, best, weights)[: query.limit]


def _likely(files: LineFiles, tables: Tables, query: HistoryQuery, roots: Sequence[str]) -> tuple[list[_Line], int]:
    """The lines in which one of the roots stands, in whatever field; and how many lines there are."""
    found, total = [], 0
    encoded = [root.encode("utf-8", "surrogatepass") for root in roots]
    is_plain = all(map(bytes.isascii, encoded))
    uses = _uses_of(files, tables, query)
    has_filters = (query.kind, query.tool, query.since, query.until) != (None,) * 4
    for number in _sessions(tables, query):
        lines = files.lines(session_file(number))
        total += len(lines)
        for index, line in enumerate(lines):
            folded = line.lower() if is_plain or line.isascii() else _folded(line)
            counts = tuple(map(folded.count, encoded))
            if _COPY in line[:_HEAD]:
                fits = query.session_id is not None  # else the original stands for it
            else:
                fits = any(counts) and not (has_filters and not _passes(fields_of(line), query, uses))
            if fits:
                found.append(_Line(number, index, counts, len(line)))
    return found, total


def _sessions(tables: Tables, query: HistoryQuery) -> list[int]:
    """The numbers of the sessions in which is searched."""
    names = enumerate(tables.sessions, 1)
    return [number for number, session_id in names if query.session_id in {None, session_id}]


def _folded(line: bytes) -> bytes:
    return line.decode("utf-8", "surrogatepass").lower().encode("utf-8", "surrogatepass")


def _scored(
    files: LineFiles, tables: Tables, query: HistoryQuery, lines: Sequence[_Line], weights: dict[str, float]
) -> list[tuple[int, StoredStep, float]]:
    found = list(_with_neighbours(files, tables, lines))
    chosen = {(line.session, line.index) for line in lines}
    places = {(one.session, one.index): number for number, one in enumerate(found)}
    looked = {}
    for number, one in enumerate(found):
        counts, length = _count(readable(plain(one.step)), weights)
        before, after = (places.get((one.session, one.index + distance)) for distance in (-1, 1))
        looked[number] = Looked(number, one.session, before, after, counts, length)
    scores = relevance(looked, weights)
    uses = _uses_of(files, tables, query)
    hits = [
        (one.position, one.step, round(scores[number], 4))
        for number, one in enumerate(found)
        if (one.session, one.index) in chosen and looked[number].counts and _passes(one.step.as_dict(), query, uses)
    ]
    return sorted(hits, key=lambda hit: (-hit[2], -hit[0]))


def _with_neighbours(files: LineFiles, tables: Tables, lines: Sequence[_Line]) -> Iterator[_Beside]:
    """The steps of lines and those beside them."""
    names = list(tables.sessions)
    for session in sorted({line.session for line in lines}):
        all_lines = files.lines(session_file(session))
        near = {line.index + distance for line in lines if line.session == session for distance in (-1, 0, 1)}
        for index in sorted(near):
            if 0 <= index < len(all_lines):
                for position, step in read_steps(files, tables, names[session - 1], [all_lines[index]]):
                    yield _Beside(session, index, position, step)


def _count(text: str, weights: dict[str, float]) -> tuple[dict[str, float], int]:
    """How often each root stands in a text, as a word; and how many words there are."""
    if text.startswith(DATA_URL):
        return {}, 0
    words = words_of(region(text, list(weights), _LOOKED_AT))
    counts: dict[str, float] = {}
    single = [root for root in weights if is_single_cjk(root)]
    for word in words:
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
    names = list(tables.sessions)
    for number in _sessions(tables, query):
        lines = [line for line in files.lines(session_file(number)) if b'"tool":' in line or _COPY in line[:_HEAD]]
        for _, step in read_steps(files, tables, names[number - 1], lines):
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
