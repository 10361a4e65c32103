"""Queries: their words, the expression for the full-text index, and the best matching part of a text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from unified_state.lib.text import cut, index_text, is_cjk

_MOST_WORDS = 64
_ENOUGH = 3  # words beside a URL
_SCHEME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-."
_MOST = 30  # occurrences of one word that are compared for the best part of a text
_MOST_COMPARED = 8  # words by which the best part of a text is chosen
MARK = "**"
_FIRST_ACCENT, _LAST_ACCENT = "\u0300", "\u036f"  # combining accents, which the index treats as part of a word
_ACCENTS = "".join(map(chr, range(ord(_FIRST_ACCENT), ord(_LAST_ACCENT) + 1)))
# the table for `translate` of ASCII
_SPACED = "".join(sign if sign.isalnum() else " " for sign in map(chr, range(128)))
# The most common English words, which are ignored unless a query has no others.
_STOP_WORDS = """
a about after all also am an and any are as at be because been before being but by can could did do
does doing for from had has have having he her here hers him his how i if in into is it its itself
just me more most my no nor not now of off on once only or other our out over own same she should so
some such than that the their them then there these they this those through to too under until up
very was we were what when where which while who why will with would you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
# Words of prompts on any topic, and the parts into which the index splits `don't`.
_CHATTER_WORDS = """
again ahead alright awesome back carry change check close code commit continue cool correct couldn course d
didn doesn don done even exactly fine finish first fix get go going good got great hadn hasn haven hello help
hey hi isn keep know last let lets like ll look looks m make maybe need next nice nope ok okay one perfect
please pls proceed push re really right run s see shouldn show sorry start still stop sure t tell test tests
thank thanks then thing things think try use using ve want wasn way well weren won work working works wouldn
yeah yep yes yup
"""
CHATTER = frozenset(_CHATTER_WORDS.split())


def words_of(text: str) -> list[str]:
    """Return the words of a text as in the index, before stemming."""
    if text.isascii():
        return text.translate(_SPACED).lower().split()
    signs = index_text(text).lower()
    spaced = "".join(sign if sign.isalnum() or _FIRST_ACCENT <= sign <= _LAST_ACCENT else " " for sign in signs)
    return [word for part in spaced.split() if (word := part.lstrip(_ACCENTS))]


def query_words(query: str, most: int = _MOST_WORDS) -> list[str]:
    """Return the first distinct words of a query without stop words. Those of URLs would outweigh the others, and
    are left out where there are enough others.
    """
    without = " ".join(part.partition("://")[0].rstrip(_SCHEME) if "://" in part else part for part in query.split())
    words = list(dict.fromkeys(words_of(query)))
    telling = [word for word in words if word not in STOP_WORDS]
    others = [word for word in dict.fromkeys(words_of(without)) if word not in STOP_WORDS]
    return (others if len(others) >= _ENOUGH else telling or words)[:most]


def names_file(text: str, file: str) -> bool:
    """Return whether a text names a file, by its name or by the end of its path.

    `src/app.py` names `app.py`, but `my_app.py` does not.
    """
    name = re.escape(_folded(file))
    return re.search(rf"(?<![\w.-]){name}(?![\w-])", _folded(text)) is not None


def fts_query(words: Sequence[str], forms: Mapping[str, tuple[str, ...]] | None = None) -> str:
    """Return an FTS5 expression that matches any of the words, or any of their other forms.

    Words are quoted, so none is an operator. A single CJK character matches the pairs in the index that begin with it.
    A form that ends with `*` is a prefix. Of several words in a row the expression asks for all, because the index does
    not know their places.
    """
    return " OR ".join(_form_query(form) for word in words for form in (word, *(forms or {}).get(word, ())))


def _form_query(form: str) -> str:
    if " " in form:
        return f"({' AND '.join(map(_form_query, form.split()))})"
    if is_single_cjk(form) or form.endswith("*"):
        return f'"{form.removesuffix("*")}"*'
    return f'"{form}"'


def is_single_cjk(word: str) -> bool:
    """Return whether a word is one character of Chinese, Japanese or Korean."""
    return len(word) == 1 and is_cjk(word)


def region(text: str, words: Sequence[str], size: int) -> str:
    """Return the text, or the part of a long text with the best of the words. Earlier words have more weight."""
    if len(text) <= size:
        return text
    place = _best_place(_folded(text), words[:_MOST_COMPARED], size * 5 // 6)
    begin = max(0, place - size // 6)
    return text[begin : begin + size]


def has_any(text: str, words: Sequence[str]) -> bool:
    """Return whether the text has one of the words."""
    folded = _folded(text)
    return any(True for word in words for _ in _places(folded, word))


def snippet(text: str, words: Sequence[str], limit: int) -> str:
    """Return the part of a text with most of the words, with those marked. Earlier words have more weight."""
    place = _best_place(_folded(text), words, limit * 2 // 3)
    begin = max(0, place - limit // 4)
    if begin:
        begin = text.find(" ", begin, place) + 1 or begin
    part = ("…" if begin else "") + cut(text[begin:], limit)
    return _marked(part, words)


def _best_place(folded: str, words: Sequence[str], length: int) -> int:
    """Return the start of the part of this length with the best words."""
    places = sorted((place, rank) for rank, word in enumerate(words) for place in islice(_places(folded, word), _MOST))
    best, best_worth = 0, 0
    for number, (begin, _) in enumerate(places):
        end = bisect_right(places, (begin + length, len(words)))
        worth = sum(len(words) - rank for rank in {rank for _, rank in places[number:end]})
        if worth > best_worth:
            best, best_worth = begin, worth
    return best


def _places(folded: str, word: str) -> Iterator[int]:
    """Yield the positions of a word as a whole word; of a CJK word also inside others."""
    position = folded.find(word)
    while position >= 0:
        end = position + len(word)
        if is_cjk(word[0]) or not (_goes_on(folded[position - 1 : position]) or _goes_on(folded[end : end + 1])):
            yield position
        position = folded.find(word, end)


def _goes_on(sign: str) -> bool:
    """Return whether a character next to a word is part of that word."""
    return (sign.isalnum() and (sign.isascii() or not is_cjk(sign))) or _FIRST_ACCENT <= sign <= _LAST_ACCENT


def _marked(text: str, words: Sequence[str]) -> str:
    """Return the text with all the words marked. Adjacent words share one mark."""
    folded = _folded(text)
    spans: list[list[int]] = []
    for begin, end in sorted((place, place + len(word)) for word in words for place in _places(folded, word)):
        if spans and begin <= spans[-1][1]:
            spans[-1][1] = max(end, spans[-1][1])
        else:
            spans.append([begin, end])
    pieces, last = [], 0
    for begin, end in spans:
        pieces += [text[last:begin], MARK, text[begin:end], MARK]
        last = end
    return "".join([*pieces, text[last:]])


def _folded(text: str) -> str:
    """Return the text in lower case, with all positions unchanged. A character that would become two stays."""
    folded = text.lower()
    if len(folded) == len(text):
        return folded
    return "".join(low if len(low := sign.lower()) == 1 else sign for sign in text)
