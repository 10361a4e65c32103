"""What the user typed and the client's summary does not quote, verbatim."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate, groupby

from unified_state.hosts.transcripts.rules.own_words import typed_passages
from unified_state.ledger.rules.item_lines import harmless
from unified_state.lib.query import words_of
from unified_state.lib.text import cut, estimate_tokens
from unified_state.model.known import Prompt, Turn
from unified_state.model.step import TEXT, TOOL_RESULT

_RUN, _QUOTED = 4, 0.7  # words in a row; share of the runs of a sentence that a summary has if it quotes it
_ENDS = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])|\s*\n\s*")  # of sentences
_LIMITS = tuple(round(5_000 * 0.8**step) for step in range(16))  # characters of a prompt: the first at which all fit
_FIRST = 2_000  # at least so many characters of the first
_PASTED = 6  # words, at least, of a sentence that was pasted
_COUNTED = 24  # tokens of the line that counts those left out
_SAYS_NOTHING = {
    "", "continue", "go ahead", "go on", "next", "ok", "okay", "please continue", "proceed", "sure", "thank you",
    "thanks", "yes", "yes please",
}  # fmt: skip


def unquoted_lines(prompts: Sequence[Prompt], turns: Sequence[Turn], summary: str, tokens: float) -> list[str]:
    """Return a line for each prompt with what the summary lacks of it, the oldest first, within so many tokens. What
    was pasted from the turns before is marked.

    If not all fit, the prompts are cut, and then those between the first and the newest are left out and counted. The
    first one often says what the session is for, and what holds in it.
    """
    quoted = _Quoted(summary)
    before = {turn.number: _text_of(turn) for turn in turns}
    text, ends = "".join(before.values()), dict(zip(before, accumulate(map(len, before.values())), strict=True))
    lacking = []
    for prompt in prompts:
        end = max((at for number, at in ends.items() if number < prompt.turn), default=0)
        told = partial(_is_told, text, end)
        lacking.append((prompt.turn, harmless(" ".join(_lacking(prompt.text, quoted, told)))))
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
    sizes = accumulate(map(_tokens, [*first, *reversed(lines[len(first) :])]))
    fitting = sum(size <= tokens for size in sizes) - len(first)
    left = len(lines) - len(first) - fitting
    return [*first, f"  ({left} prompts left out here)", *lines[len(lines) - fitting :]]


def _tokens(line: str) -> int:
    return estimate_tokens(f"{line}\n")


def _text_of(turn: Turn) -> str:
    """Return the words of what the agent said and what its tools printed."""
    return _joined(_ascii_words("\n".join(step.text for step in turn.steps if step.kind in {TEXT, TOOL_RESULT})))


def _ascii_words(text: str) -> list[str]:
    """Return the words of a text without other signs than ASCII's, for which a long text takes much longer."""
    return words_of(text.encode("ascii", "ignore").decode())


def _joined(words: Iterable[str]) -> str:
    return f" {' '.join(words)} "


def _lacking(prompt: str, quoted: _Quoted, is_told: Callable[[str], bool]) -> Iterator[str]:
    """Yield the sentences of a prompt that the summary does not quote. A gap is marked.

    Sentences that were told before are pasted. They are not told alone, where the summary quotes what was typed.
    """
    at, is_gap, lacking, is_typed = 0, False, list[tuple[bool, str]](), False
    for passage in typed_passages(prompt):
        begin = prompt.find(passage, at)
        is_gap, at = is_gap or (at > 0 and bool(prompt[at:begin].strip())), begin + len(passage)
        is_all_pasted = is_told(passage)
        for sentence in filter(None, _ENDS.split(passage.strip())):
            is_pasted = is_all_pasted or is_told(sentence)
            is_empty = _says_nothing(sentence)
            is_typed |= not (is_pasted or is_empty)
            if is_empty or quoted.has(sentence):
                is_gap = True
            else:
                lacking.append((is_pasted, f"… {sentence}" if is_gap else sentence))
                is_gap = False
    if is_typed and all(is_pasted for is_pasted, _ in lacking):
        return
    for is_pasted, sentences in groupby(lacking, lambda one: one[0]):
        text = " ".join(sentence for _, sentence in sentences)
        yield f"[pasted: {text}]" if is_pasted else text


def _is_told(text: str, end: int, passage: str) -> bool:
    """Return whether a text has a passage before an end."""
    words = _ascii_words(passage) if end else []
    return len(words) >= _PASTED and text.find(_joined(words), 0, end) >= 0


def _says_nothing(sentence: str) -> bool:
    return " ".join(words_of(sentence)) in _SAYS_NOTHING


class _Quoted:
    """A text that may quote sentences."""

    def __init__(self, text: str) -> None:
        words = words_of(text)
        self._text = _joined(words)
        self._runs = set(_runs(words))

    def has(self, sentence: str) -> bool:
        """Return whether the text quotes a sentence."""
        words = words_of(sentence)
        runs = set(_runs(words))
        if not runs:
            return _joined(words) in self._text
        return len(runs & self._runs) >= _QUOTED * len(runs)


def _runs(words: Sequence[str]) -> Iterable[tuple[str, ...]]:
    return zip(*(words[start:] for start in range(_RUN)), strict=False)
