"""The full-text index: the steps that match a query, and how often texts have its words.

To rank every match costs too much for a word that a third of a million steps have. So the steps with all words of a
query are candidates, then those that its rarest words choose. The newest steps give an estimate of how rare a word is.
The index knows which words a step has, not where and how often: that is counted in the texts of the candidates.
"""

from __future__ import annotations

from _thread import _local
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, islice
from math import log
from operator import itemgetter
from sqlite3 import Connection, connect
from typing import TYPE_CHECKING

from unified_state.archive.archive import Archive
from unified_state.archive.steps import KIND_NUMBERS, find_step, readable
from unified_state.lib.query import CHATTER, fts_query, is_single_cjk, names_file, query_words, words_of
from unified_state.lib.record import Record

if TYPE_CHECKING:
    from unified_state.archive.word_forms import Forms


MOST_COUNTED, _MOST_WORDS = 400, 100  # words of a query whose rarity is looked up, and by which it is searched
SAMPLE = 20_000  # newest steps, in which words are counted
MOST_MATCHES = 50_000  # maximum number of matches that are ranked
_MOST_TOGETHER = 6  # words that a step must have all of
_MOST_MEASURED = 2_000  # of the matches whose lengths are read
_SATURATION, _LENGTH = 1.2, 0.75  # k1 and b of BM25, as in FTS5
_TOKENIZER = "porter unicode61"
_LAST_CHARACTER = "\U0010ffff"
_kept = _local()


class Filters(Record):
    """Conditions on a step: its session (by number), a time from `since` to before `until`, a tool (of a call or its
    result), a kind, a file that it names, its turn.
    """

    session: int | None = None
    since: int | None = None
    until: int | None = None
    tool: str | None = None
    file: str | None = None
    kind: str | None = None
    turns: tuple[int, ...] | None = None


def count_steps(archive: Archive) -> int:
    """Return the approximate number of steps."""
    return int(archive.row("SELECT coalesce(max(id), 0) FROM step")[0])


def count_having(archive: Archive, words: Sequence[str], steps: int, forms: Forms | None = None) -> dict[str, int]:
    """Return how many steps have each word or a form of it, extrapolated from the newest steps. A word that only older
    steps have counts as 1.
    """
    first = max(0, steps - SAMPLE)
    scale = steps / min(steps, SAMPLE) if steps else 1.0
    select = "SELECT count(*) FROM (SELECT 1 FROM step_words WHERE step_words MATCH ? AND rowid > ? LIMIT ?)"
    having = {}
    for word in words:
        query = any_of([word], forms)
        newest = archive.row(select, query, first, -1)[0]
        having[word] = round(newest * scale) if newest or not first else archive.row(select, query, 0, 1)[0]
    return having


def rarest(having: dict[str, int]) -> dict[str, int]:
    """Return the words that a search goes by: of too many the rarest that any step has."""
    known = [word for word in having if having[word]] if len(having) > _MOST_WORDS else list(having)
    return {word: having[word] for word in sorted(known, key=having.__getitem__)[:_MOST_WORDS]}


def best_matches(
    archive: Archive,
    having: Mapping[str, int],
    steps: int,
    filters: Filters,
    limit: int,
    forms: Forms | None = None,
) -> dict[int, float]:
    """Return the best matches with their scores, the best first: by BM25, each word counted once.

    Where too many steps match to rank them all, those with all words or with the two rarest come first. Then the rarest
    words select, and the other words fill the remaining places. A limit above the number of ranked matches raises that
    number.
    """
    most = max(MOST_MATCHES, limit)
    words = sorted(having, key=having.__getitem__)
    rarity = {word: log(1 + (max(0, steps - having[word]) + 0.5) / (having[word] + 0.5)) for word in words}
    queries = {word: any_of([word], forms) for word in words}
    found: dict[int, float] = {}
    known = [word for word in words if having[word]][:_MOST_TOGETHER]
    if sum(having.values()) > most:
        for part in (known[:2], known) if len(known) > 1 else ():
            together = " AND ".join(f"({queries[word]})" for word in part)
            worth = {together: sum(rarity[word] for word in part)}
            found |= _ranked(archive, worth, filters, limit, most=_MOST_MEASURED)
    count = sum(total <= most for total in accumulate(having[word] for word in words)) or 1
    for part in (words[:count], words[count:]):
        if part and len(found) < limit:
            matches = sum(having[word] for word in part)
            # Of too many matches only the newest are ranked, except with a filter, which may select old ones.
            after = 0 if matches <= most or filters != Filters() else steps - round(steps * most / matches)
            worth = {queries[word]: rarity[word] for word in part}
            found = _ranked(archive, worth, filters, limit, after=after) | found
    return dict(sorted(found.items(), key=itemgetter(1), reverse=True)[:limit])


def _ranked(
    archive: Archive, worth: Mapping[str, float], filters: Filters, limit: int, *, after: int = 0, most: int = -1
) -> dict[int, float]:
    """Return the best steps after a number, the best first, by the worth of the expressions that they match and their
    lengths. Without a filter only the newest `most` matches of an expression count.
    """
    # One text costs a quarter of as many rows.
    select = (
        "SELECT group_concat(id) FROM (SELECT rowid AS id FROM step_words WHERE step_words MATCH ? AND rowid > ? "
        "ORDER BY rowid DESC LIMIT ?)"
    )
    found: dict[int, float] = {}
    for query, value in worth.items():
        told = archive.value(select, query, after, most if filters == Filters() else -1)
        for number in map(int, told.split(",") if told else ()):
            found[number] = found.get(number, 0.0) + value
    if filters != Filters():
        passing = _passing(archive, " OR ".join(f"({query})" for query in worth), filters)
        found = {number: value for number, value in found.items() if number in passing}
    first = sorted(found, key=found.__getitem__, reverse=True)[: max(_MOST_MEASURED, limit)]
    scores = [(found[number] / norm, number) for number, norm in _norms(archive, first).items()]
    best = ((score, number) for score, number in sorted(scores, reverse=True))
    if filters.file is not None:
        best = ((score, number) for score, number in best if _names(archive, number, filters.file))
    return {number: score for score, number in islice(best, limit)}


def _passing(archive: Archive, query: str, filters: Filters) -> set[int]:
    """Return the steps that match an expression and pass the filters. Their texts may name another file."""
    if filters.file is not None:
        query = f"({query}) AND ({any_of([' '.join(words_of(filters.file))])})"
    where, values = _conditions(filters)
    select = (
        "SELECT step_words.rowid FROM step_words CROSS JOIN step ON step.id = step_words.rowid "
        f"CROSS JOIN turn ON turn.id = step.turn WHERE step_words MATCH ? AND {where}"
    )
    return set(archive.column(select, query, *values))


def _norms(archive: Archive, numbers: Sequence[int]) -> dict[int, float]:
    """Return the indexed ones of some steps, each with the divisor for its length."""
    steps, words, *_ = (*_numbers_of(archive.value("SELECT block FROM step_words_data WHERE id = 1") or b""), 0, 0)
    usual = words / steps if steps and words else 1.0
    rows = archive.rows(f"SELECT id, sz FROM step_words_docsize WHERE id IN ({', '.join(map(str, numbers))})")
    share = _SATURATION * _LENGTH / usual
    return {number: 1 + _SATURATION * (1 - _LENGTH) + share * next(_numbers_of(length)) for number, length in rows}


def _numbers_of(block: bytes) -> Iterator[int]:
    """Yield the numbers of a record of FTS5: seven bits a byte, the highest first, and a high bit but in the last."""
    number = 0
    for byte in block:
        number = number << 7 | byte & 0x7F
        if byte < 0x80:  # noqa: PLR2004
            yield number
            number = 0


def those_passing(archive: Archive, numbers: Sequence[int], filters: Filters) -> list[int]:
    """Return those steps that pass the filters, in their order."""
    (where, values), file = _conditions(filters), filters.file
    chosen = f"step.id IN ({', '.join(map(str, numbers))}) AND kind NOT NULL AND {where}"
    passing = set(archive.column(f"SELECT step.id FROM step JOIN turn ON turn.id = turn WHERE {chosen}", *values))
    return [number for number in numbers if number in passing and (file is None or _names(archive, number, file))]


def _names(archive: Archive, number: int, file: str) -> bool:
    """Return whether a step names a file exactly. The index does not distinguish tests.py from test.py."""
    step = find_step(archive, number)
    return step is not None and names_file(readable(step), file)


def count_words(texts: Sequence[str], words: Sequence[str], forms: Forms | None = None) -> list[dict[str, float]]:
    """Return the number of occurrences of each word in each text, by the tokenizer of the index."""
    return [{word: len(at) for word, at in found.items()} for found in find_words(texts, words, forms)]


def index_terms(texts: Sequence[str]) -> list[list[str]]:
    """Return the terms that the index has of each text, once each."""
    select = "SELECT doc, group_concat(DISTINCT term) FROM terms_of_texts GROUP BY doc"
    found = dict(_filled(texts=texts).execute(select).fetchall())
    return [found[place].split(",") if place in found else [] for place in range(len(texts))]


def find_words(texts: Sequence[str], words: Sequence[str], forms: Forms | None = None) -> list[dict[str, list[int]]]:
    """Return the places of each word and its forms in each text, counted in words, by the tokenizer of the index."""
    if not texts:
        return []
    wanted = [(form, word) for word in words for form in (word, *(forms or {}).get(word, ()))]
    connection = _filled(words=[form for form, _ in wanted], texts=texts)
    places: list[dict[str, list[int]]] = [{} for _ in texts]
    terms = connection.execute("SELECT term, doc FROM terms_of_words WHERE offset = 0").fetchall()
    for term, form, word in dict.fromkeys((term, *wanted[number]) for term, number in terms):
        if " " in form:
            found = connection.execute("SELECT rowid, '0' FROM texts WHERE texts MATCH ?", (f'"{form}"',))
        else:
            last = term + _LAST_CHARACTER if is_single_cjk(word) or form.endswith("*") else term
            select = "SELECT doc, group_concat(offset) FROM terms_of_texts WHERE term BETWEEN ? AND ? GROUP BY doc"
            found = connection.execute(select, (term, last))
        for text, at in found:
            places[text].setdefault(word, []).extend(map(int, at.split(",")))
    return places


def _filled(**tables: Sequence[str]) -> Connection:
    connection = _tables()
    connection.execute("BEGIN")
    for name, rows in tables.items():
        connection.execute(f"INSERT INTO {name} ({name}) VALUES ('delete-all')")
        connection.executemany(f"INSERT INTO {name} (rowid, text) VALUES (?, ?)", list(enumerate(rows)))
    connection.execute("COMMIT")
    return connection


def _tables() -> Connection:
    """Return tables in memory that split texts into words. To make them takes longer than to use them, so each thread
    keeps its own.
    """
    connection: Connection | None = getattr(_kept, "tables", None)
    if connection is None:
        connection = connect(":memory:", isolation_level=None)
        for name in ("words", "texts"):
            connection.execute(f"CREATE VIRTUAL TABLE {name} USING fts5 (text, content='', tokenize='{_TOKENIZER}')")
            connection.execute(f"CREATE VIRTUAL TABLE terms_of_{name} USING fts5vocab ({name}, 'instance')")
        _kept.tables = connection
    return connection


def any_of(words: Sequence[str], forms: Forms | None = None) -> str:
    """Return an expression for any of the words, each as the words into which the index splits it."""
    return fts_query([word if word.isascii() else _split(word) for word in words], forms)


def _split(word: str) -> str:
    """Return a word as words that the index does not split. SQLite may know fewer letters and accents than Python."""
    connection = _tables()
    connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
    texts = (word, *(f"a{sign}a" for sign in word))
    connection.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", enumerate(texts))
    split = {number for (number,) in connection.execute("SELECT doc FROM terms_of_words WHERE offset = 1")}
    if 0 not in split:
        return word
    signs = (" " if number in split else sign for number, sign in enumerate(word, 1))
    return " ".join("".join(signs).split()) or word


_CALLED = (
    "SELECT 1 FROM step AS call WHERE call.turn = step.turn AND call.tool_use_id = step.tool_use_id "
    "AND call.tool = ? COLLATE NOCASE"
)


def _conditions(filters: Filters) -> tuple[str, list[object]]:
    """Return the condition on a step and its turn, and its values."""
    kind = None if filters.kind is None else KIND_NUMBERS[filters.kind]
    wanted = [
        ("(turn.session = ? OR step.id IN (SELECT step FROM step_copy WHERE session = ?))", filters.session),
        ("step.at >= ?", filters.since),
        ("step.at < ?", filters.until),
        (f"(step.tool = ? COLLATE NOCASE OR (step.tool_use_id NOT NULL AND EXISTS ({_CALLED})))", filters.tool),
        ("step.kind = ?", kind),
    ]
    given = [(condition, value) for condition, value in wanted if value is not None]
    turns = "1" if filters.turns is None else f"step.turn IN ({', '.join(map(str, filters.turns))})"
    values: list[object] = [value for condition, value in given for _ in range(condition.count("?"))]
    return " AND ".join([turns, *(condition for condition, _ in given)]), values


_FEW, _COMMON = 12, 0.1  # maximum number and share of steps that have a distinctive word


def tells_something(having: int, steps: int) -> bool:
    """Return whether a word is rare enough to distinguish steps."""
    return having <= max(_FEW, steps * _COMMON)


def telling_words(archive: Archive, text: str) -> list[str]:
    """Return the distinctive words of a text, in order."""
    words = [word for word in query_words(text) if word not in CHATTER]
    steps = count_steps(archive)
    having = count_having(archive, words, steps)
    return [word for word in words if tells_something(having[word], steps)]
