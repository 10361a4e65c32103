"""Find which recorded items a summary contains: by their ref, or by their names, numbers and most of their rare words.
Those of its reason are a decision's too.

Nothing is understood here: a paragraph that says the opposite in the same words counts too. The restore repeats an item
that is not found, so a doubt counts as missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from unified_state.ledger.rules.short_item import is_captured
from unified_state.lib.query import STOP_WORDS, words_of
from unified_state.lib.record import Record
from unified_state.lib.text import is_cjk
from unified_state.model.constraint import USER_SAID
from unified_state.model.item import EVIDENCE, MAIN_FIELDS, LedgerItem
from unified_state.model.known import KEPT, MISSING, ItemVerdict, Survival

_LONGEST, _MOST_PARAGRAPHS = 600, 2_000  # characters of an item, paragraphs of a summary
_SHORTEST_WORD, _COMPARED = 4, 6  # letters of a rare word; those of it that are compared, because of endings
_RARE_WORDS, _LEAST_WORDS = 0.6, 3  # of an item's rare words: the part and the number that have to stand there
_FEWEST = 2  # an item with fewer terms has to stand there word for word
_LIST_MARKS = ("-", "*", "•", "#", "|")
_IN_NAMES = frozenset("_/@#=.")


class Terms(Record):
    """The terms of an item: all of `needed` (names, numbers) and most of `rare` have to stand together."""

    words: str
    needed: frozenset[str]
    rare: frozenset[str]


class Paragraph(Record):
    """A paragraph of a summary: its place, its text, its words, and their first letters."""

    begin: int
    end: int
    text: str
    words: str
    numbered: frozenset[str]
    begun: frozenset[str]

    def has(self, terms: Terms) -> bool:
        """Return whether all that is needed of an item stands here."""
        count = len(terms.rare)
        if len(terms.needed) + count < _FEWEST:
            return terms.words.strip() != "" and terms.words in self.words
        least = max(_RARE_WORDS * count, min(_LEAST_WORDS, count))
        return terms.needed <= self.numbered and len(terms.rare & self.begun) >= least


def judge(items: Iterable[LedgerItem], summary: str) -> Survival:
    """Return for each item whether the summary contains it, and the position of that paragraph. What was only captured
    from calls is not asked for: a restore tells of the commands themselves.
    """
    paragraphs = list(islice(_paragraphs(summary), _MOST_PARAGRAPHS))

    def judged(item: LedgerItem) -> ItemVerdict:
        terms, word = terms_of(f"{claim_of(item)} {item.body.get('rationale') or ''}"[:_LONGEST]), item.alias.lower()
        found = (
            one for one in paragraphs if (word in one.numbered and _has_ref(one.text, item.alias)) or one.has(terms)
        )
        place = next(found, None)
        return ItemVerdict(item.alias, KEPT, place.begin, place.end) if place else ItemVerdict(item.alias, MISSING)

    return Survival(tuple(judged(item) for item in items if not is_captured(item) or item.origin == USER_SAID))


def claim_of(item: LedgerItem) -> str:
    """Return the text of an item that a summary has to keep."""
    text = str(item.body.get(MAIN_FIELDS[item.kind]) or "").strip()
    return (text.splitlines() or [""])[0][:_LONGEST] if item.kind == EVIDENCE else text[:_LONGEST]


def terms_of(claim: str) -> Terms:
    """Return the terms of an item's text. A name is a word with a capital that begins no sentence, with a capital
    inside, or with a sign of paths.
    """
    names, rare, begins = set[str](), set[str](), True
    for token in claim.split():
        bare = token.strip("`'\"()[]{}<>,;:!?.*")
        is_name = (bare[:1].isupper() and not begins) or bare[1:] != bare[1:].lower() or not _IN_NAMES.isdisjoint(bare)
        for word in words_of(token):
            if is_cjk(word[0]):
                rare.update([word] if len(word) > 1 else [])  # the index ends a run with its last character
            elif is_name or not word.isalpha():
                names.add(_number(word) or word)
            elif len(word) >= _SHORTEST_WORD and word not in STOP_WORDS:
                rare.add(word[:_COMPARED])
        begins = token.endswith((".", "!", "?", ":"))
    return Terms(f" {' '.join(words_of(claim))} ", frozenset(names), frozenset(rare))


def _number(word: str) -> str:
    """Return the number in `30` and `30s`, or ""."""
    unit = word.lstrip("0123456789")
    return word[: len(word) - len(unit)] if not unit or unit.isalpha() else ""


def _paragraphs(text: str) -> Iterator[Paragraph]:
    """Yield the paragraphs. An entry of a list, a heading and a row of a table are one each."""
    begin = at = 0
    for line in [*text.splitlines(keepends=True), ""]:
        bare = line.strip()
        if at > begin and (not bare or bare.startswith(_LIST_MARKS) or bare.partition(".")[0].isdigit()):
            yield _paragraph(text[begin:at], begin)
            begin = at
        at += len(line)


def _paragraph(text: str, begin: int) -> Paragraph:
    words = words_of(text)
    begun = frozenset(word[:_COMPARED] for word in words)
    numbered = frozenset([*words, *map(_number, words)])
    return Paragraph(begin, begin + len(text), text, f" {' '.join(words)} ", numbered, begun)


def _has_ref(text: str, ref: str) -> bool:
    """Return whether a text has a ref that is no part of a longer word: `D1` is not in `D12`, `D1.py` or `a/D1`."""
    return re.search(rf"(?<![\w/#.])(?:{ref}|{ref.lower()})(?!\.?[\w/#]|\.\.)", text, re.ASCII) is not None
