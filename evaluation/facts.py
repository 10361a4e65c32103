"""The facts that a task depends on, and whether a text holds them.

A task that lists none gets them from its own data: the words of its policy that were said in the decision but not in
the bug report, by the sentences that say them, the newest first. We write none of it, and judge all arms by the same
facts. A fact stands in a text if its numbers, three quarters of its words, and half of the other words of
its sentence occur within `NEAR` characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.exam_questions import tells
from evaluation.tasks import Task

NEAR = 600  # characters
_LEAST_WORDS, _LEAST_OTHERS = 0.75, 0.5
_LEAST_NEW = 2  # words of the policy that a sentence adds
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:_\w+)*", re.UNICODE)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_LONGEST = 400  # characters of a sentence that counts as one
_COMMON_WORDS = (
    "a an and any are as at be been before but by can do does each either every except for from get has have if in into"
    " is it its keep keys key must never no not of on one only or other out over own per rule same so stay stays than"
    " that the their them then there these they this to up use was we when where which while who will win wins with"
    " you your all always also just more most exactly set list value values"
)
_COMMON = frozenset(_COMMON_WORDS.split())


@dataclass(frozen=True)
class Fact:
    """Words that have to stand together, and the other words of the sentence that says them; or `must`, strings that
    the author of a task gave, as `benchmarks.exam_questions.tells` compares them.
    """

    words: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    must: tuple[str, ...] = ()


def facts_of(task: Task) -> list[Fact]:
    """Return the facts that the answer needs. Raise ValueError if the task's data tell none."""
    if task.needed:
        return [Fact(must=fact) for fact in task.needed]
    sentences = [sentence for said in reversed(task.decided) for sentence in _sentences(said.text)]
    policy, known = _words(task.policy), _words(task.bug_report)
    facts = _choose(sentences, policy - known, known) or _choose(sentences, policy, frozenset())
    if not facts:
        message = f"{task.folder}: neither `facts`, nor a `policy` whose words the decision says"
        raise ValueError(message)
    return facts


def _choose(sentences: Sequence[str], policy: frozenset[str], known: frozenset[str]) -> list[Fact]:
    """The sentences that together say the words of the policy, as far as each adds two words or a number."""
    facts: list[Fact] = []
    wanted = policy
    while wanted:
        best = max(sentences, key=lambda sentence: len(_words(sentence) & wanted))  # of equals the first: the newest
        words = _words(best)
        new = words & wanted
        if len(new) < _LEAST_NEW and not any(map(_is_number, new)):
            break
        facts.append(Fact(words & policy, words - policy - known))
        wanted -= words
    return facts


def holds(text: str, fact: Fact) -> bool:
    """Whether a text holds the fact."""
    if fact.must:
        return tells(text, fact.must)
    looked_for = fact.words | fact.others
    found = [
        (at, word)
        for place in _WORD.finditer(text)
        if (word := _stem(place[0])) in looked_for
        for at in [place.start()]
    ]
    first = 0
    for last, (at, _) in enumerate(found):
        while at - found[first][0] > NEAR:
            first += 1
        if _enough(fact, {word for _, word in found[first : last + 1]}):
            return True
    return False


def _enough(fact: Fact, near: set[str]) -> bool:
    numbers = frozenset(filter(_is_number, fact.words))
    return (
        numbers <= near
        and len(near & fact.words) >= _LEAST_WORDS * len(fact.words)
        and len(near & fact.others) >= _LEAST_OTHERS * len(fact.others)
    )


def _is_number(word: str) -> bool:
    return word[0].isdigit()


def held(text: str, facts: Sequence[Fact]) -> float:
    """The share of the facts that a text holds."""
    return sum(holds(text, fact) for fact in facts) / len(facts)


def held_in(texts: Sequence[str], facts: Sequence[Fact]) -> float:
    """The share of the facts that one of some texts holds."""
    return sum(any(holds(text, fact) for text in texts) for fact in facts) / len(facts)


def _sentences(text: str) -> Iterable[str]:
    for sentence in _SENTENCE.split(text):
        for start in range(0, len(sentence), _LONGEST):
            yield sentence[start : start + _LONGEST]


def _words(text: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in _WORD.findall(text)) - _COMMON - {""}


def _stem(word: str) -> str:
    """A word without case and the usual endings; of one letter only digits and signs count."""
    word = word.casefold()
    if not word[0].isdigit() and len(word) < 3:
        return ""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
