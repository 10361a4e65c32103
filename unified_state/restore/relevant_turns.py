"""Find what the archive knows about a prompt: the best passages of earlier prompts and answers, one a turn.

A passage is worth the sum of the rarities of the prompt's words in it. It is added if that is as much as two words have
that occur in very few steps, or if it contains all rare words of the prompt. Measured on 200 prompts of real sessions
and on 40 decisions that were only said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from math import log

from unified_state.archive.archive import Archive
from unified_state.archive.full_text import Filters, count_having, count_steps, count_words, tells_something
from unified_state.archive.steps import find_step, turn_of_step
from unified_state.hosts.transcripts.rules.own_words import typed_passages
from unified_state.ledger.rules.item_lines import harmless
from unified_state.lib.query import CHATTER, STOP_WORDS, words_of
from unified_state.lib.record import Record
from unified_state.lib.text import estimate_tokens, index_text, is_cjk, one_line
from unified_state.lib.times import age_text
from unified_state.model.refs import STEP, parse_ref
from unified_state.model.step import PROMPT, TEXT, Step
from unified_state.restore.rules.passages import passages, sentences
from unified_state.search.search_archive import search

MOST_TOKENS = 600
_HEAD = "[RELEVANT] archived turns that this prompt may be about; `unified-state show REF` prints one whole"
_HITS, _CANDIDATES, _TURNS = 40, 120, 8
_MOST_COUNTED, _MOST_WORDS = 100, 24  # words of a prompt whose rarity is looked up, and that are searched
_LEAST_WORDS, _LEAST = 2, 1.2  # words in a passage, and its worth as a multiple of what one word of one step has
_LEAST_NEW = 2  # words of a passage that the prompt does not have
_COMPARED = 60  # characters of a passage that are looked for in what was told
_URL = re.compile(r"https?://\S+")


class Passage(Record):
    """A passage of a step."""

    number: int
    step: Step
    text: str


def relevant_turns(archive: Archive, prompt: str, now: int, *, before: int | None = None, told: str = "") -> str:
    """Return the passages that a prompt is about, within 600 tokens, or "".

    Only steps `before` a time count, and only passages that are not in the text `told`.
    """
    steps, asked = count_steps(archive), _URL.sub(" ", prompt)
    weights = _rare_words(archive, asked, steps)
    if sum(map(_weight, weights)) < _LEAST_WORDS:
        return ""
    filters, words = Filters(until=before), list(weights)
    hits = search(archive, asked, _HITS, now=now, filters=filters, words=words, candidates=_CANDIDATES)
    found = list(_passages(archive, (hit.ref for hit in hits)))
    counts = count_words([index_text(passage.text) for passage in found], words) if found else []
    least, said = min(_LEAST * log(1 + steps), sum(weights.values())), set(words_of(asked))
    ranked = [
        (worth, passage)
        for passage, having in zip(found, counts, strict=True)
        if sum(map(_weight, having)) >= _LEAST_WORDS
        and (worth := sum(weights[word] for word in having)) >= least
        and len(set(words_of(passage.text)) - said) >= _LEAST_NEW
    ]
    ranked.sort(key=lambda scored: -scored[0])
    return _within(archive, (passage for _, passage in ranked), now, one_line(told))


def _rare_words(archive: Archive, text: str, steps: int) -> dict[str, float]:
    """Return the rarest words of a text that the archive has, each with its rarity."""
    words = [word for word in dict.fromkeys(words_of(text)) if word not in STOP_WORDS and word not in CHATTER]
    having = count_having(archive, words[:_MOST_COUNTED], steps)
    rare = [word for word, count in having.items() if count and tells_something(count, steps)]
    rare.sort(key=having.__getitem__)
    return {word: _weight(word) * log(1 + steps / having[word]) for word in rare[:_MOST_WORDS]}


def _weight(word: str) -> float:
    """Return how much of a word a word of the index is. CJK text has about two pairs of characters for each word, and a
    single last character.
    """
    if not is_cjk(word[0]):
        return 1.0
    return 0.5 if len(word) > 1 else 0.0


def _passages(archive: Archive, refs: Iterable[str]) -> Iterator[Passage]:
    """Yield the passages of the prompts and answers among some refs."""
    for ref in refs:
        kind, number = parse_ref(ref)
        step = find_step(archive, number) if kind == STEP else None
        if step is not None and step.kind in {PROMPT, TEXT}:
            yield from (Passage(number=number, step=step, text=text) for text in _cut(step))


def _cut(step: Step) -> Iterator[str]:
    if step.kind == TEXT:
        yield from passages(step.text)
    else:
        for passage in typed_passages(step.text):
            yield from sentences(map(one_line, passage.splitlines()))


def _within(archive: Archive, found: Iterable[Passage], now: int, told: str) -> str:
    """Return the lines of the passages, one a turn, the best first, as far as there is room."""
    lines: dict[str, str] = {}
    room = MOST_TOKENS - estimate_tokens(_HEAD)
    for passage in found:
        turn, text = f"T{turn_of_step(archive, passage.number)}", harmless(passage.text)
        line = f"{turn} S{passage.number} ({age_text(now, passage.step.at)}) {passage.step.kind}: {text}"
        size = estimate_tokens(f"{line}\n")
        if len(lines) < _TURNS and turn not in lines and size <= room and text[:_COMPARED] not in told:
            lines[turn] = line
            room -= size
    return "\n".join([_HEAD, *lines.values()]) if lines else ""
