"""The terms of a statement: its words, names and quantities as a comparison sees them, and what turns it round.

A word is its stem under the commonest word of the same meaning; a name keeps its signs; a quantity is its value in the
unit of its dimension, so that `0.5 s` is `500 ms`. Chinese, Japanese and Korean have no spaces: their runs are taken as
pairs of characters.
"""

from __future__ import annotations

from unified_state.capture.rules.quantities import UNITS, read_quantity
from unified_state.capture.rules.word_meanings import COMPOUNDS, CONTRARY, VERBS, WEAK, meaning
from unified_state.capture.rules.word_senses import AND, AT_LEAST, AT_MOST, CJK_SENSES, LIGHT, PHRASES, SENSES
from unified_state.lib.text import is_cjk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


WORD, NAME, NUMBER, SENSE, BREAK = "word", "name", "number", "sense", "break"
_WEAK_WEIGHT = 0.5
_AROUND = "`'\"()[]{},;:!?*~|“”‘’«»「」『』（）【】。、，；：！？…\u00a0"
_BREAKS = frozenset(",;:|—–()（），；：、。")
_FIRST_CJK = "\u2e80"
_LONGEST_PHRASE = 5
_PHRASE_STARTS = {phrase[0] for phrase in PHRASES}
_AUXILIARIES = {"is", "are", "was", "has", "must", "shall", "should", "may", "can", "cannot", "will", "does"}
_SENSES_OF_NUMBERS = {"over": AT_LEAST, "under": AT_MOST, "within": AT_MOST}  # else: `over` prefers, others say little


class Term:
    """One term: what it is, the key by which it is compared, how it was written, and how much it says."""

    __slots__ = ("key", "kind", "label", "text", "weight")

    def __init__(self, kind: str, key: str, text: str, weight: float = 1.0, label: str = "") -> None:
        self.kind, self.key, self.text, self.weight, self.label = kind, key, text, weight, label

    @property
    def is_content(self) -> bool:
        """Whether the statement speaks of it."""
        return self.weight > 0

    def __repr__(self) -> str:
        return f"{self.kind}:{self.key}"


def read_terms(text: str) -> list[Term]:
    """The terms of a text, in order, with breaks between its clauses."""
    tokens = list(_tokens(_spaced(text)))
    terms: list[Term] = []
    position = 0
    while position < len(tokens):
        length, sense = _phrase(tokens, position)
        if length:
            terms.append(Term(SENSE, sense, " ".join(tokens[position : position + length]), 0.0))
        else:
            length = _read_one(tokens, position, terms)
        position += length
    return terms


def _spaced(text: str) -> str:
    """The text with what is to be a word of its own set apart."""
    text = text.replace("’", "'").replace("n't", " not").replace("N'T", " not").replace("->", " → ")
    text = text.replace("**", "").replace("__", " ") if "*" in text or "_" in text else text
    if text.isascii() or max(text) < _FIRST_CJK:
        return text
    pieces: list[str] = []
    was_cjk = False
    for character in text:
        cjk = is_cjk(character) and character not in _BREAKS and character not in _AROUND
        if cjk != was_cjk:
            pieces.append(" ")
        pieces.append(f"{character} " if character in _BREAKS else character)
        was_cjk = cjk
    return "".join(pieces)


def _tokens(text: str) -> Iterator[str]:
    """The words of a text; an empty one stands for the end of a clause."""
    for chunk in text.split():
        bare = chunk.strip(_AROUND)
        if not any(map(str.isalnum, bare)) and bare not in SENSES and bare not in UNITS:
            if not _BREAKS.isdisjoint(chunk):
                yield ""
            continue
        start = chunk.find(bare)
        if not _BREAKS.isdisjoint(chunk[:start]):
            yield ""
        quoted = chunk[start - 1 : start] == "`" and chunk[start + len(bare) : start + len(bare) + 1] == "`"
        bare = (bare.rstrip(".") or bare).removesuffix("'s")
        yield from _parts(bare, quoted=quoted)
        if not _BREAKS.isdisjoint(chunk[start + len(bare) :]):
            yield ""


def _parts(word: str, *, quoted: bool) -> Iterator[str]:
    """A word, or those that a hyphen or a slash joins: `read-only`, `and/or`, `10-20`. Names stay whole."""
    if (
        quoted
        or word.lower() in CONTRARY
        or word[0] == "-"
        or "_" in word
        or "." in word
        or "://" in word
        or word.count("/") > 1
    ):
        yield word
    elif "-" in word.strip("-") and (word.replace("-", "").isalpha() or _is_range_or_unit(word)):
        yield from filter(None, word.split("-"))
    elif "–" in word.strip("–"):
        yield from filter(None, word.split("–"))
    elif "/" in word.strip("/") and word.replace("/", "").isalpha() and word.islower():
        yield from filter(None, word.split("/"))
    else:
        yield word


def _is_range_or_unit(word: str) -> bool:
    """Whether it is `10-20` or `30-second`."""
    first, _, last = word.partition("-")
    return first.isdigit() and (last.isdigit() or last.isalpha())


def _phrase(tokens: list[str], position: int) -> tuple[int, str]:
    """The length and the sense of the phrase that begins here; the longest one counts."""
    if tokens[position].lower() not in _PHRASE_STARTS:
        return 0, ""
    for length in range(min(_LONGEST_PHRASE, len(tokens) - position), 1, -1):
        sense = PHRASES.get(tuple(token.lower() for token in tokens[position : position + length]))
        if sense is not None:
            return length, sense
    return 0, ""


def _read_one(tokens: list[str], position: int, terms: list[Term]) -> int:
    """Add the terms of the token here; how many tokens they took."""
    token = tokens[position]
    if not token:
        terms.append(Term(BREAK, "", "", 0.0))
        return 1
    if is_cjk(token[0]):
        terms.extend(_cjk_terms(token))
        return 1
    following = tokens[position + 1] if position + 1 < len(tokens) else ""
    quantity = read_quantity(token, following)
    if quantity is not None:
        if quantity.bound:
            terms.append(Term(SENSE, quantity.bound, "", 0.0))
        terms.append(Term(NUMBER, quantity.key, token, 1.0, quantity.dimension))
        return quantity.tokens
    low = token.lower()
    sense = SENSES.get(low) if token != "May" or not terms else None  # noqa: S105  # the month
    if low in _SENSES_OF_NUMBERS:
        is_bound = bool(following) and read_quantity(following, "") is not None
        sense = _SENSES_OF_NUMBERS[low] if is_bound else sense if low == "over" else LIGHT
    if sense is not None:
        if sense != LIGHT:
            terms.append(Term(BREAK if sense == AND else SENSE, sense, token, 0.0))
        return 1
    if f"{low}{following.lower()}" in COMPOUNDS:
        token, low, following = f"{low}{following.lower()}", f"{low}{following.lower()}", "-"
    is_first = (not terms or terms[-1].kind == BREAK) and not _is_subject(low, following)
    terms.append(_word(token, low, is_first=is_first))
    return 2 if following == "-" else 1


def _is_subject(first: str, following: str) -> bool:
    """Whether a first word does something by the next one: `Alice owns …`, `Redis stores …`, `Coverage must …`."""
    word = following.lower()
    if meaning(first) in VERBS:
        return False
    return word in _AUXILIARIES or (word.islower() and word.endswith("s") and not word.endswith("ss"))


def _word(token: str, low: str, *, is_first: bool) -> Term:
    """A word; one with a capital inside a sentence is a name."""
    if token.isalpha():
        key = meaning(low)
        capital = len(token) > 1 and (not token[1:].islower() or (token[:1].isupper() and not is_first))
        return Term(NAME if capital else WORD, key, token, _WEAK_WEIGHT if key in WEAK else 1.0)
    key = low.removesuffix("()").strip("_")
    has_sign = any(sign in "_./\\@#:$" or sign.isdigit() for sign in token.strip("-"))
    return Term(NAME if has_sign else WORD, key, token)


def _cjk_terms(run: str) -> Iterator[Term]:
    """A run of Chinese, Japanese or Korean: what turns it round or binds it by itself, the rest as pairs."""
    rest = run
    senses = []
    for written, sense in CJK_SENSES.items():
        if written in rest:
            senses += [sense] * rest.count(written)
            rest = rest.replace(written, " ")
    yield from (Term(SENSE, sense, "", 0.0) for sense in senses)
    for part in rest.split():
        pairs = [part[place : place + 2] for place in range(len(part) - 1)] or [part]
        yield from (Term(WORD, pair, pair, _WEAK_WEIGHT) for pair in pairs)
