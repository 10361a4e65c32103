"""The full-text index: the steps that match a query, and how often texts have its words.

BM25 over every match costs too much for a word that a third of a million steps have. So the steps with all words of a
query are candidates, then those that its rarest words choose. The newest steps give an estimate of how rare a word is.
"""

from __future__ import annotations

from _thread import _local
from itertools import islice, zip_longest
from math import log, prod

from unified_state.lib.query import CHATTER, fts_query, is_single_cjk, names_file, query_words, words_of
from unified_state.lib.record import Record
from unified_state.lib.stdlib import connect
from unified_state.memory.archive.steps import KIND_NUMBERS, find_step, readable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from unified_state.lib.stdlib import Connection
    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.archive.word_forms import Forms


SAMPLE = 20_000  # newest steps, in which words are counted
MOST_MATCHES = 50_000  # maximum number of matches that are ranked
_MOST_TOGETHER = 6  # words that a step must have all of
_MOST_SHARE = 0.6  # of the matches that may be ranked: more often the two rarest words are too common
_MOST_READ = 5_000  # of those, if file names must be compared
_LEAST_RARITY, _MOST_OF_WORD = 1e-6, 2.2  # of FTS5: of a word in most steps; k1 + 1
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
    """Return how many steps have each word or a form of it, extrapolated from the newest steps."""
    first = max(0, steps - SAMPLE)
    scale = steps / min(steps, SAMPLE) if steps else 1.0
    counted = {}
    for word in words:
        (found,) = archive.row(
            "SELECT count(*) FROM step_text WHERE step_text MATCH ? AND rowid > ?", fts_query([word], forms), first
        )
        counted[word] = round(found * scale)
    return counted


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
    found: list[int] = []
    if sum(having.values()) > most:
        found = _with_several(archive, having, steps, filters, limit, forms)
    total, count = 0, 0
    while count < len(rarest) and (count == 0 or total + having[rarest[count]] <= most):
        total += having[rarest[count]]
        count += 1
    for words in (rarest[:count], rarest[count:]):
        if words and len(found) < limit:
            newest = _newest(steps, sum(having[word] for word in words), most, filters)
            found += _ranked(archive, fts_query(words, forms), newest, filters, limit)
    return list(dict.fromkeys(found))[:limit]


def _with_several(  # as of best_matches
    archive: Archive, having: dict[str, int], steps: int, filters: Filters, limit: int, forms: Forms | None
) -> list[int]:
    """Return the best steps that have all words, and the best that have the two rarest, in turn."""
    words = [word for word in sorted(having, key=having.__getitem__) if having[word] or _stands(archive, word, forms)]
    words = words[:_MOST_TOGETHER]
    found: list[list[int]] = []
    for count in dict.fromkeys((len(words), 2)) if len(words) > 1 else ():
        together, others = words[:count], words[count:]
        # To compare the lists of places of two words costs less than to rank a match.
        matches = steps * prod(having[word] / steps for word in together)
        cost = round(having[words[0]] / 2 + matches * 2)
        if others and cost > MOST_MATCHES * _MOST_SHARE:
            continue
        query = _all_of(together, forms) + (f" AND ({fts_query([words[0], *others], forms)})" if others else "")
        newest = _newest(steps, cost, max(MOST_MATCHES, limit), filters)
        found.append(_ranked(archive, query, newest, filters, limit))
    return [number for pair in zip_longest(*found) for number in dict.fromkeys(pair) if number is not None]


def _all_of(words: list[str], forms: Forms | None) -> str:
    return " AND ".join(f"({fts_query([word], forms)})" for word in words)


def _newest(steps: int, matches: int, most: int, filters: Filters) -> int:
    """Return the step after which about `most` of the matches are: 0 for all.

    Of too many matches only the newest are ranked, except with a filter, which may select old ones.
    """
    return 0 if matches <= most or filters != Filters() else steps - round(steps * most / matches)


def _stands(archive: Archive, word: str, forms: Forms | None) -> bool:
    """Return whether any step has a word."""
    return archive.row("SELECT 1 FROM step_text WHERE step_text MATCH ? LIMIT 1", fts_query([word], forms)) is not None


def _ranked(archive: Archive, query: str, newest: int, filters: Filters, limit: int) -> list[int]:
    """Return the steps after a number that match an expression and the filters, the best first."""
    if filters.file is not None:
        query = f'({query}) AND "{" ".join(words_of(filters.file))}"'
    conditions, values = _conditions(filters)
    join = "JOIN step ON step.id = step_text.rowid JOIN turn ON turn.id = step.turn" if conditions else ""
    where = "".join(f" AND {condition}" for condition in conditions)
    rows = archive.execute(
        f"SELECT step_text.rowid FROM step_text {join} WHERE step_text MATCH ? AND step_text.rowid > ?{where} "
        f"ORDER BY bm25(step_text), step_text.rowid DESC LIMIT ?",
        (query, newest, *values, limit if filters.file is None else _MOST_READ),
    )
    if filters.file is None:
        return [number for (number,) in rows]
    return list(islice((number for (number,) in rows if _names(archive, number, filters.file)), limit))


def those_passing(archive: Archive, numbers: Sequence[int], filters: Filters) -> list[int]:
    """Return those steps that pass the filters, in their order."""
    conditions, values = _conditions(filters)
    where = "".join(f" AND {condition}" for condition in conditions)
    rows = archive.execute(
        f"SELECT step.id FROM step JOIN turn ON turn.id = step.turn WHERE step.id IN ({', '.join(map(str, numbers))})"
        f" AND kind NOT NULL{where}",
        values,
    )
    passing = {number for (number,) in rows}
    file = filters.file
    return [number for number in numbers if number in passing and (file is None or _names(archive, number, file))]


def _names(archive: Archive, number: int, file: str) -> bool:
    """Return whether a step names a file exactly. The index does not distinguish tests.py from test.py."""
    step = find_step(archive, number)
    return step is not None and names_file(readable(step), file)


def count_words(texts: Sequence[str], words: Sequence[str], forms: Forms | None = None) -> list[dict[str, float]]:
    """Return the number of occurrences of each word in each text, by the tokenizer of the index."""
    return [{word: len(at) for word, at in found.items()} for found in find_words(texts, words, forms)]


def find_words(texts: Sequence[str], words: Sequence[str], forms: Forms | None = None) -> list[dict[str, list[int]]]:
    """Return the places of each word and its forms in each text, counted in words, by the tokenizer of the index."""
    if not texts:
        return []
    wanted = [(form, word) for word in words for form in (word, *(forms or {}).get(word, ()))]
    connection = _tables()
    connection.execute("BEGIN")
    for name, rows in {"words": [form for form, _ in wanted], "texts": texts}.items():
        connection.execute(f"INSERT INTO {name} ({name}) VALUES ('delete-all')")
        connection.executemany(f"INSERT INTO {name} (rowid, text) VALUES (?, ?)", list(enumerate(rows)))
    connection.execute("COMMIT")
    places: list[dict[str, list[int]]] = [{} for _ in texts]
    terms = connection.execute("SELECT term, doc FROM terms_of_words WHERE offset = 0").fetchall()
    for term, form, word in dict.fromkeys((term, *wanted[number]) for term, number in terms):
        if " " in form:
            found = connection.execute("SELECT rowid, '0' FROM texts WHERE texts MATCH ?", (f'"{form}"',))
        else:
            last = term + _LAST_CHARACTER if is_single_cjk(word) or form.endswith("*") else term
            found = connection.execute(
                "SELECT doc, group_concat(offset) FROM terms_of_texts WHERE term BETWEEN ? AND ? GROUP BY doc",
                (term, last),
            )
        for text, at in found:
            places[text].setdefault(word, []).extend(map(int, at.split(",")))
    return places


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
    archive: Archive, numbers: Sequence[int], having: dict[str, int], steps: int, forms: Forms | None = None
) -> dict[int, list[float]]:
    """Return how much of each word the steps have, from 0 to 1.

    That is BM25 without how rare the word is in this archive, which says nothing of another one.
    """
    shares = {number: [0.0] * len(having) for number in numbers}
    among = f"({', '.join(map(str, numbers))})"
    for place, (word, count) in enumerate(having.items()):
        # A plus keeps SQLite from asking the index anew for each number.
        rows = archive.execute(
            "SELECT rowid, bm25(step_text) FROM step_text WHERE step_text MATCH ? AND +rowid IN " + among,
            (fts_query([word], forms),),
        )
        rarity = max(_LEAST_RARITY, log((steps - count + 0.5) / (count + 0.5)) if count < steps else 0.0)
        for number, found in rows:
            shares[number][place] = min(1.0, -found / (rarity * _MOST_OF_WORD))
    return shares


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
