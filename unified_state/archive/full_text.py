"""The full-text index: the steps that match a query, and how often texts have its words.

To rank every match costs too much for a word that a third of a million steps have. So the steps with all words of a
query are candidates, then those that its rarest words choose. The newest steps give an estimate of how rare a word is.
The index knows which words a step has, not where and how often: that is counted in the texts of the candidates.
"""

from __future__ import annotations

from _thread import _local
from collections.abc import Collection, Sequence
from heapq import nlargest
from itertools import islice, zip_longest
from math import log, prod
from sqlite3 import Connection, connect
from typing import TYPE_CHECKING

from unified_state.archive.archive import Archive
from unified_state.archive.index.step_index import numbers_of
from unified_state.archive.steps import KIND_NUMBERS, find_step, readable
from unified_state.lib.query import CHATTER, fts_query, is_single_cjk, names_file, query_words, words_of
from unified_state.lib.record import Record

if TYPE_CHECKING:
    from unified_state.archive.word_forms import Forms


MOST_COUNTED, _MOST_WORDS = 400, 100  # words of a query whose rarity is looked up, and by which it is searched
SAMPLE = 20_000  # newest steps, in which words are counted
MOST_MATCHES = 50_000  # maximum number of matches that are ranked
_MOST_TOGETHER = 6  # words that a step must have all of
_MOST_SHARE = 0.6  # of the matches that may be ranked: more often the two rarest words are too common
_MOST_READ = 5_000  # of those, if file names must be compared
_MOST_MEASURED = 2_000  # of those whose lengths are read, if no filter leaves few
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


def best_matches(  # the last has a default
    archive: Archive, having: dict[str, int], steps: int, filters: Filters, limit: int, forms: Forms | None = None
) -> list[int]:
    """Return the best matches by BM25, the best first.

    Where too many steps match to rank them all, those with all words and those with the two rarest come first. Then the
    rarest words select, and the other words fill the remaining places. A limit above the number of ranked matches
    raises that number.
    """
    most = max(MOST_MATCHES, limit)
    rarest = sorted(having, key=having.__getitem__)
    rank = _Ranker(archive, having, steps, filters, limit, forms)
    found: list[int] = []
    if sum(having.values()) > most:
        found = _with_several(rank, most)
    total, count = 0, 0
    while count < len(rarest) and (count == 0 or total + having[rarest[count]] <= most):
        total += having[rarest[count]]
        count += 1
    for words in (rarest[:count], rarest[count:]):
        if words and len(found) < limit:
            found += rank([], words, _newest(steps, sum(having[word] for word in words), most, filters))
    return list(dict.fromkeys(found))[:limit]


def _with_several(rank: _Ranker, most: int) -> list[int]:
    """Return the best steps that have all words, and the best that have the two rarest, in turn."""
    having, steps = rank.having, rank.steps
    words = [word for word in sorted(having, key=having.__getitem__) if having[word]]
    words = words[:_MOST_TOGETHER]
    found: list[list[int]] = []
    for count in dict.fromkeys((len(words), 2)) if len(words) > 1 else ():
        together, others = words[:count], words[count:]
        # To compare the lists of steps of two words costs less than to rank a match.
        matches = steps * prod(having[word] / steps for word in together)
        cost = round(having[words[0]] / 2 + matches * 2)
        if others and cost > MOST_MATCHES * _MOST_SHARE:
            continue
        found.append(rank(together, others, _newest(steps, cost, most, rank.filters)))
    return [number for pair in zip_longest(*found) for number in dict.fromkeys(pair) if number is not None]


def _newest(steps: int, matches: int, most: int, filters: Filters) -> int:
    """Return the step after which about `most` of the matches are: 0 for all.

    Of too many matches only the newest are ranked, except with a filter, which may select old ones.
    """
    return 0 if matches <= most or filters != Filters() else steps - round(steps * most / matches)


class _Ranker:
    """Ranks the steps of an archive by the words of a query that they have: by BM25, each word counted once.

    That needs neither places nor frequencies in the index. The candidates' own texts show these later.
    """

    def __init__(
        self, archive: Archive, having: dict[str, int], steps: int, filters: Filters, limit: int, forms: Forms | None
    ) -> None:
        self.having, self.steps, self.filters = having, steps, filters
        self._archive, self._limit, self._forms = archive, limit, forms
        self._rarity = {word: log(1 + (max(0, steps - count) + 0.5) / (count + 0.5)) for word, count in having.items()}

    def __call__(self, together: list[str], others: list[str], newest: int) -> list[int]:
        """Return the steps after a number that have all of some words, the best by these and others first. Without
        words that all must have, return those that have any of the others.
        """
        found = self._worth(together, others, newest)
        if self.filters == Filters():
            found = _first(found, max(_MOST_MEASURED, self._limit))
        scores = [(found[number] / norm, number) for number, norm in Norms(self._archive).of(found).items()]
        best = nlargest(_MOST_READ if self.filters.file else self._limit, scores)
        numbers = (number for _, number in best)
        file = self.filters.file
        if file is None:
            return list(numbers)
        return list(islice((number for number in numbers if _names(self._archive, number, file)), self._limit))

    def _worth(self, together: list[str], others: list[str], newest: int) -> dict[int, float]:
        """Return the steps with the sum of the rarities of their words. Where enough steps have all words,
        return no others.
        """
        words = [*together, *others]
        most = max(_MOST_MEASURED, self._limit) if self.filters == Filters() else -1
        numbers = self._having(self._all_of(words), newest, most)
        if len(numbers) == most or words in (together, others[:1]):
            return self._passing(dict.fromkeys(numbers, self._sum(words)), self._all_of(words), newest)
        base = self._all_of(together)
        found = dict.fromkeys(self._having(base, newest), self._sum(together)) if base else {}
        for word in others:
            query, worth = any_of([word], self._forms), self._rarity[word]
            for number in self._having(f"{base} AND ({query})" if base else query, newest):
                found[number] = found.get(number, 0.0) + worth
        return self._passing(found, base or any_of(others, self._forms), newest)

    def _sum(self, words: list[str]) -> float:
        return sum(self._rarity[word] for word in words)

    def _all_of(self, words: list[str]) -> str:
        return " AND ".join(f"({any_of([word], self._forms)})" for word in words)

    def _having(self, query: str, newest: int, most: int = -1) -> list[int]:
        """Return the steps that match an expression, at most the newest `most`."""
        # One text costs a quarter of as many rows.
        told = self._archive.value(
            "SELECT group_concat(id) FROM (SELECT rowid AS id FROM step_words WHERE step_words MATCH ? AND rowid > ? "
            "ORDER BY rowid DESC LIMIT ?)",
            query,
            newest,
            most,
        )
        return list(map(int, told.split(","))) if told else []

    def _passing(self, found: dict[int, float], query: str, newest: int) -> dict[int, float]:
        """Return those of the steps that match an expression which pass the filters too."""
        if self.filters == Filters() or not found:
            return found
        if self.filters.file is not None:
            query = f"({query}) AND ({any_of([' '.join(words_of(self.filters.file))])})"
        conditions, values = _conditions(self.filters)
        join = "JOIN step ON step.id = step_words.rowid JOIN turn ON turn.id = step.turn" if conditions else ""
        where = "".join(f" AND {condition}" for condition in conditions)
        rows = self._archive.execute(
            f"SELECT step_words.rowid FROM step_words {join} WHERE step_words MATCH ? AND step_words.rowid > ?{where}",
            (query, newest, *values),
        )
        return {number: found[number] for (number,) in rows if number in found}


def _first(found: dict[int, float], most: int) -> dict[int, float]:
    """Return the steps with the greatest worth, and of those with the same worth the newest."""
    if len(found) <= most:
        return found
    total, least = 0, 0.0
    counts: dict[float, int] = {}
    for worth in found.values():
        counts[worth] = counts.get(worth, 0) + 1
    for worth, count in sorted(counts.items(), reverse=True):
        if total + count > most:
            least = worth
            break
        total += count
    first = {number: worth for number, worth in found.items() if worth > least}
    others = nlargest(most - total, (number for number, worth in found.items() if worth == least))
    return first | dict.fromkeys(others, least)


class Norms(dict[bytes, float]):
    """By what to divide the worth of a step's words, for each length as the index has it."""

    def __init__(self, archive: Archive) -> None:
        super().__init__()
        self._archive = archive
        steps, words, *_ = (*numbers_of(archive.value("SELECT block FROM step_words_data WHERE id = 1") or b""), 0, 0)
        self._usual = words / steps if steps and words else 1.0

    def __missing__(self, stored: bytes) -> float:
        length = 0
        for byte in stored:  # as in `numbers_of`
            length = length << 7 | byte & 0x7F
        norm = self[stored] = 1 + _SATURATION * (1 - _LENGTH + _LENGTH * length / self._usual)
        return norm

    def of(self, numbers: Collection[int]) -> dict[int, float]:
        """Return the steps, each with its divisor."""
        among = ", ".join(map(str, numbers))
        rows = self._archive.rows(f"SELECT id, sz FROM step_words_docsize WHERE id IN ({among})")
        return {number: self[stored] for number, stored in rows}


def those_passing(archive: Archive, numbers: Sequence[int], filters: Filters) -> list[int]:
    """Return those steps that pass the filters, in their order."""
    conditions, values = _conditions(filters)
    where = "".join(f" AND {condition}" for condition in conditions)
    rows = archive.execute(
        f"SELECT step.id FROM step JOIN turn ON turn.id = step.turn WHERE step.id IN ({', '.join(map(str, numbers))})"
        f" AND kind NOT NULL{where}",
        values,
    )
    passing, file = {number for (number,) in rows}, filters.file
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


def word_shares(
    archive: Archive, numbers: Sequence[int], having: dict[str, int], forms: Forms | None = None
) -> dict[int, list[float]]:
    """Return how much of each word the steps have, from 0 to 1.

    That is BM25 without how rare the word is in this archive, which says nothing of another one.
    """
    shares = {number: [0.0] * len(having) for number in numbers}
    among = f"({', '.join(map(str, numbers))})"
    norms = Norms(archive).of(numbers)
    for place, word in enumerate(having):
        # A plus keeps SQLite from asking the index anew for each number.
        select = f"SELECT rowid FROM step_words WHERE step_words MATCH ? AND +rowid IN {among}"
        for number in filter(norms.__contains__, archive.column(select, any_of([word], forms))):
            shares[number][place] = 1 / norms[number]
    return shares


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


def _conditions(filters: Filters) -> tuple[list[str], list[object]]:
    conditions: list[str] = []
    values: list[object] = []
    if filters.session is not None:
        conditions.append("(turn.session = ? OR step.id IN (SELECT step FROM step_copy WHERE session = ?))")
        values += [filters.session, filters.session]
    for comparison, time in (("step.at >= ?", filters.since), ("step.at < ?", filters.until)):
        if time is not None:
            conditions.append(comparison)
            values.append(time)
    if filters.tool is not None:
        conditions.append(
            "(step.tool = ? COLLATE NOCASE OR (step.tool_use_id NOT NULL AND EXISTS (SELECT 1 "
            "FROM step AS call WHERE call.turn = step.turn AND call.tool_use_id = step.tool_use_id "
            "AND call.tool = ? COLLATE NOCASE)))"
        )
        values += [filters.tool, filters.tool]
    if filters.turns is not None:
        conditions.append(f"step.turn IN ({', '.join(map(str, filters.turns))})")
    if filters.kind is not None:
        conditions.append("step.kind = ?")
        values.append(KIND_NUMBERS[filters.kind])
    return conditions, values


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
