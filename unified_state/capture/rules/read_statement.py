"""Parse a statement for a comparison: its words, names and quantities, and the ones that it denies.

A word is represented by the stem of the commonest word with its meaning, a name by its spelling. A quantity is
represented by its value in the unit of its dimension: `0.5 s` is `500 ms`. Chinese and Japanese text has no spaces, so
it is split into pairs of characters.
"""

from __future__ import annotations

from unified_state.capture.rules.word_meanings import (
    AFTER,
    AT_LEAST,
    AT_MOST,
    BEFORE,
    BREAK,
    BY,
    CJK_SENSES,
    COMPOUNDS,
    FROM,
    LIGHT,
    LIMIT,
    LONGEST_PHRASE,
    NOT,
    NUMERALS,
    OVER,
    PREFER,
    SENSE_OF,
    TO,
    UNITS,
    WEAK,
    WHOLE,
    meaning,
)
from unified_state.lib.text import is_cjk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

WORD, NAME, NUMBER, SENSE = "word", "name", "number", "sense"
_PARTICLES = frozenset("为是的了在和与")
_FIRST_IDEOGRAPH = "\u30a0"  # after the Japanese syllables that only connect words


class Term:
    """One term: its kind, the key for comparisons, its weight, and whether the statement denies it or puts it last.

    A sense has no weight and keeps the written word.
    """

    __slots__ = ("is_denied", "is_given_up", "is_last", "key", "kind", "weight", "written")

    def __init__(self, kind: str, key: str, weight: float = 0.0, written: str = "") -> None:
        self.kind, self.key, self.weight, self.written = kind, key, weight, written
        self.is_denied = self.is_given_up = self.is_last = False

    @property
    def worth(self) -> float:
        """Return the weight, reduced for a term that is named only to be rejected."""
        return self.weight * (0.3 if self.is_given_up else 1.0)


_AROUND = "`'\"()[]{},;:!?*~|“”‘’«»「」『』（）【】。、，；：！？…\u00a0"
_BREAKS = ",;:|—–()（），；：、。"


def _tokens(text: str) -> Iterator[str]:
    """Yield the words of a text. An empty word ends a clause."""
    for old, new in (("’", "'"), ("n't", " not"), ("->", " to "), ("→", " to "), ("**", ""), ("=", " ")):
        text = text.replace(old, new)
    if not text.isascii():
        text = "".join(f" {sign} " if sign in _BREAKS else sign for sign in text)
        text = "".join(
            f" {sign}" if at and is_cjk(sign) != is_cjk(text[at - 1]) else sign for at, sign in enumerate(text)
        )
    for chunk in text.split():
        word = chunk.strip(_AROUND)
        if chunk[0] in _BREAKS or not word:
            yield ""
        word = (word.rstrip(".") or word).removesuffix("'s")
        if any(map(str.isalnum, word)) or word in SENSE_OF or word in UNITS:
            yield from _parts(word)
            if chunk[-1] in _BREAKS:
                yield ""


def _parts(word: str) -> list[str]:
    """Return a word, or the words that a hyphen or slash joins: `read-only`, `and/or`, `30-second`. Names stay
    whole.
    """
    if word in WHOLE or word[0] == "-":
        return [word]
    if "-" in word and (word.replace("-", "").isalpha() or (word[0].isdigit() and word.partition("-")[2].isalpha())):
        return list(filter(None, word.split("-")))
    is_choice = word.islower() and word.count("/") == 1 and word.replace("/", "").isalpha()
    return list(filter(None, word.split("/"))) if is_choice else [word]


def _terms(text: str, without: frozenset[str]) -> list[Term]:
    """Return the terms of a text in order, without some words."""
    tokens = [token for token in _tokens(text) if token.upper() not in without]
    lowered = [token.lower() for token in tokens]
    for at in range(len(tokens) - 1, 0, -1):
        if lowered[at - 1] + lowered[at] in COMPOUNDS:
            tokens[at - 1 : at + 1] = lowered[at - 1 : at + 1] = ["".join(lowered[at - 1 : at + 1])]
    terms: list[Term] = []
    at = 0
    while at < len(tokens):
        phrases = (
            (length, SENSE_OF.get(" ".join(lowered[at : at + length]))) for length in range(LONGEST_PHRASE, 0, -1)
        )
        length, sense = next((found for found in phrases if found[1]), (1, None))
        following = lowered[at + 1] if at + 1 < len(tokens) else ""
        quantity = _quantity(lowered[at], following)
        if not tokens[at]:
            terms.append(Term(BREAK, ""))
        elif quantity:
            terms.append(quantity[0])
            length = quantity[1]
        elif is_cjk(tokens[at][0]):
            terms += _cjk_terms(tokens[at])
        elif lowered[at] in {"over", "under", "within"} and following[:1].isdigit():
            terms.append(Term(SENSE, AT_LEAST if lowered[at] == "over" else AT_MOST))
        elif sense is None or (tokens[at] == "May" and terms):
            terms.append(_word(tokens[at], is_first=not terms or terms[-1].kind == BREAK))
        elif sense != LIGHT:
            terms.append(Term(BREAK if sense == BREAK else SENSE, sense, written=lowered[at]))
        at += length
    return terms


def _quantity(token: str, following: str) -> tuple[Term, int] | None:
    """Return the quantity in a lower-case word and the unit after it, with the number of words used, or None."""
    bare = token.lstrip("$€£¥≈+#v")
    length = len(bare) - len(bare.lstrip("0123456789.,:-"))
    number, suffix = bare[:length].rstrip(".,:-").replace(",", ""), bare[length:]
    if token in NUMERALS:
        number, suffix = NUMERALS[token], ""
    if not number.lstrip("-")[:1].isdigit() or (suffix and suffix not in UNITS):
        return None  # a word or a name: `404s`, `2fa`
    begins = (following[:length] for length in (2, 1) if following and is_cjk(following[0]))
    unit = suffix or next((unit for unit in (following, *begins) if unit in UNITS), "")
    if unit and number.lstrip("-").replace(".", "", 1).isdigit():
        dimension, factor = UNITS[unit]
        return Term(NUMBER, f"{float(number) * factor:.10g} {dimension}", 1.0), 1 + (unit == following)
    return Term(NUMBER, number, 1.0), 1


def _word(token: str, *, is_first: bool) -> Term:
    low = token.lower()
    if not token.isalpha():
        has_sign = any(sign in "_./\\@#:$" or sign.isdigit() for sign in token)
        return Term(NAME if has_sign else WORD, low.removesuffix("()").strip("_"), 1.0)
    key = meaning(low)
    is_name = len(token) > 1 and (not token[1:].islower() or (token[0].isupper() and not is_first))
    return Term(NAME if is_name else WORD, key, 0.5 if key in WEAK else 1.0)


def _cjk_terms(run: str) -> Iterator[Term]:
    """Yield the negating and binding senses in a run of Chinese, Japanese or Korean, then the rest as pairs of
    characters.
    """
    for written, sense in CJK_SENSES.items():
        for _ in range(run.count(written)):
            yield Term(SENSE, sense)
        run = run.replace(written, " ")
    rest = "".join(" " if sign in _PARTICLES or sign < _FIRST_IDEOGRAPH else sign for sign in run)
    for part in rest.split():
        for pair in [part[at : at + 2] for at in range(len(part) - 1)] or [part]:
            yield Term(WORD, pair, 0.5)


class Reading:
    """A parsed statement, or some of its clauses: its terms by key, and its senses."""

    def __init__(self, text: str, clauses: Iterable[list[Term]]) -> None:
        self.text, self.clauses = text, list(clauses)
        self.senses = {term.key for clause in self.clauses for term in clause if term.kind == SENSE}
        self.sequence = [term for clause in self.clauses for term in clause if term.weight]
        self.terms: dict[str, Term] = {}
        for term in self.sequence:
            known = self.terms.setdefault(term.key, term)
            if known.kind == WORD and term.kind != WORD:
                self.terms[term.key] = term

    def denials(self, key: str) -> set[bool]:
        """Return whether a term is denied. The set has both values if the term occurs both ways."""
        return {term.is_denied for term in self.sequence if term.key == key}

    def sides(self, key: str) -> set[bool]:
        """Return whether a term is denied or last. The set has both values if the term occurs both ways."""
        return {term.is_denied or term.is_last for term in self.sequence if term.key == key}

    def about(self, keys: set[str]) -> Reading:
        """Return the clauses with any of the keys, and a limit (`unless …`) directly after such a clause."""
        chosen: list[list[Term]] = []
        was_chosen = False
        for clause in self.clauses:
            was_chosen = any(term.key in keys for term in clause) or (was_chosen and clause[0].key == LIMIT)
            if was_chosen:
                chosen.append(clause)
        return Reading(self.text, chosen)


def read(text: str, without: frozenset[str] = frozenset()) -> Reading:
    """Return the reading of a statement, without some words (refs of items)."""
    clauses: list[list[Term]] = [[]]
    terms = _terms(text, without)
    for at, term in enumerate(terms):
        is_rejection = term.written == NOT and at + 1 < len(terms) and terms[at + 1].kind in {NAME, NUMBER}
        if term.kind == BREAK or (is_rejection and any(one.weight >= 1 for one in clauses[-1])):
            clauses.append([])
        if term.kind != BREAK:
            clauses[-1].append(term)
    clauses = [clause for clause in clauses if any(term.weight for term in clause)]
    for clause in clauses:
        _sign(clause)
    return Reading(text, clauses)


_REPLACE = meaning("replace")


def _sign(clause: list[Term]) -> None:
    """Mark the terms that a clause denies (odd number of negations, or rejected for something else) or puts last."""
    at = {term.key: place for place, term in reversed(list(enumerate(clause)))}
    end, none = len(clause), range(0)
    over, to, by, replace = (at.get(sense, -1) for sense in (OVER, TO, BY, _REPLACE))
    given_up = [
        range(over, end) if over >= 0 else none,
        range(to, end) if to >= 0 and PREFER in at else none,
        range(at[FROM], to if to > at[FROM] else end) if FROM in at and to >= 0 else none,
        (range(replace + 1, by) if by > replace + 1 else range(replace)) if replace >= 0 and by >= 0 else none,
    ]
    is_directed = to >= 0 and at.keys().isdisjoint({BEFORE, AFTER, FROM, PREFER})
    last = [
        range(at[BEFORE], end) if BEFORE in at else none,
        range(at.get(AFTER, 0)),
        range(to, end) if is_directed else none,
    ]
    is_denied = sum(term.key == NOT for term in clause) % 2 == 1
    for place, term in enumerate(clause):
        term.is_given_up = any(place in part for part in given_up)
        term.is_denied, term.is_last = is_denied or term.is_given_up, any(place in part for part in last)
