"""What the user typed and the client's summary does not quote, verbatim."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from unified_state.hosts.transcripts.rules.own_words import typed_passages
from unified_state.ledger.rules.item_lines import harmless
from unified_state.lib.query import words_of
from unified_state.lib.text import cut, estimate_tokens
from unified_state.model.known import Prompt

_RUN, _QUOTED = 4, 0.7  # words in a row; share of the runs of a sentence that a summary has if it quotes it
_ENDS = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])|\s*\n\s*")  # of sentences
_LIMITS = tuple(round(5_000 * 0.8**step) for step in range(16))  # characters of a prompt: the first at which all fit
_FIRST = 2_000  # at least so many characters of the first
_COUNTED = 24  # tokens of the line that counts those left out
_SAYS_NOTHING = {
    "continue", "go ahead", "go on", "next", "ok", "okay", "please continue", "proceed", "sure", "thank you", "thanks",
    "yes", "yes please",
}  # fmt: skip


def unquoted_lines(prompts: Sequence[Prompt], summary: str, tokens: float) -> list[str]:
    """Return a line for each prompt with what the summary lacks of it, the oldest first, within so many tokens.

    If not all fit, the prompts are cut, and then those between the first and the newest are left out and counted. The
    first one often says what the session is for, and what holds in it.
    """
    quoted = _Quoted(summary)
    lacking = [(prompt.turn, harmless(" ".join(_lacking(prompt.text, quoted)))) for prompt in prompts]
    first = {text: turn for turn, text in reversed(lacking) if text}
    lacking = sorted((turn, text) for text, turn in first.items())
    if not lacking:
        return []
    shortest = _cut_to(_LIMITS[-1], lacking)
    if sum(map(_tokens, shortest)) > tokens:
        return _ends(shortest, tokens - _COUNTED)
    fitting = (lines for lines in (_cut_to(limit, lacking) for limit in _LIMITS) if sum(map(_tokens, lines)) <= tokens)
    return next(fitting)


def _cut_to(limit: int, lacking: Sequence[tuple[int, str]]) -> list[str]:
    limits = [max(limit, _FIRST), *[limit] * len(lacking)]
    return [f"  T{turn}: {cut(text, most)}" for (turn, text), most in zip(lacking, limits, strict=False)]


def _ends(lines: list[str], tokens: float) -> list[str]:
    """Return the first line, the number of those left out, and the newest."""
    first = lines[:1] if _tokens(lines[0]) <= tokens / 2 else []
    newest = list(_newest(lines[len(first) :], tokens - sum(map(_tokens, first))))[::-1]
    return [*first, f"  ({len(lines) - len(first) - len(newest)} prompts left out here)", *newest]


def _newest(lines: list[str], tokens: float) -> Iterator[str]:
    for line in reversed(lines):
        tokens -= _tokens(line)
        if tokens < 0:
            return
        yield line


def _tokens(line: str) -> int:
    return estimate_tokens(f"{line}\n")


def _lacking(prompt: str, quoted: _Quoted) -> Iterator[str]:
    """Yield the sentences of a prompt that the summary does not quote. A gap is marked."""
    is_gap = False
    for passage in typed_passages(prompt):
        for sentence in filter(None, _ENDS.split(passage.strip())):
            if quoted.has(sentence):
                is_gap = True
            else:
                yield f"… {sentence}" if is_gap else sentence
                is_gap = False


class _Quoted:
    """A text that may quote sentences."""

    def __init__(self, text: str) -> None:
        words = words_of(text)
        self._text = f" {' '.join(words)} "
        self._runs = set(_runs(words))

    def has(self, sentence: str) -> bool:
        """Return whether the text quotes a sentence, or the sentence says nothing."""
        words = words_of(sentence)
        if " ".join(words) in _SAYS_NOTHING or not words:
            return True
        runs = set(_runs(words))
        if not runs:
            return f" {' '.join(words)} " in self._text
        return len(runs & self._runs) >= _QUOTED * len(runs)


def _runs(words: Sequence[str]) -> Iterable[tuple[str, ...]]:
    return zip(*(words[start:] for start in range(_RUN)), strict=False)
