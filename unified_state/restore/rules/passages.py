"""Choose what the agent said that nothing else tells: passages with names, numbers, causes and results.

A passage is some sentences or list entries that stand together. Its worth is that of its words which neither the
client's summary nor a better passage has. Words that few passages have are worth more, and so are recent passages and
those with names: on real sessions the agent worked on with half of the passages without a name, and with nine in ten
of the others.
"""

from __future__ import annotations

from math import log

from unified_state.lib.identifiers import words_of
from unified_state.lib.record import Record
from unified_state.lib.text import cut, estimate_tokens, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


class Passage(Record):
    """A passage, and the number of texts that followed it."""

    text: str
    age: int


_LONGEST, _SHORTEST = 400, 24  # characters
_HALF_LIFE = 7.0  # texts
_NAME, _WORD = 1.0, 0.35  # worth of a name or number, and of another word
_TOLD = 0.12  # factor on the worth of a word that is told already
_SHORTEST_WORD = 4
_FREE = 12.0  # tokens, so that a passage of one word is not the best
_MOST = 40
_NAMELESS, _PER_NAME = 0.25, 120  # likelihood of use without a name; characters of a passage to a name
_JUST_SAID, _SHORTEST_NAMELESS = 3, 60  # a passage without a name counts if it is so new and so long
_FENCE = "```"
_RULES = frozenset("-|: =*_")  # a line of these alone separates
_AROUND = "`*_'\"()[]{}<>,;:!?.#|-–—"  # noqa: RUF001  # dashes as they are written
_SEPARATORS = "/(="


def passages(texts: Iterable[tuple[str, int]]) -> Iterator[Passage]:
    """Yield the passages of texts, each of which is given with its age."""
    for text, age in texts:
        for lines in _blocks(text):
            for part in _parts(lines):
                if len(part) >= _SHORTEST and not _announces(part):
                    yield Passage(part, age)


def chosen(found: Sequence[Passage], told: str) -> list[tuple[Passage, float]]:
    """Return the passages worth telling with their worth, the best first. `told` is the client's summary."""
    likely = [(passage, likelihood) for passage in found if (likelihood := _likelihood(passage))]
    words = [_words(passage.text) for passage, _ in likely]
    weights = _weights(words, told)

    def worth(number: int) -> float:
        return float(factors[number] * sum(weights[word] for word in words[number]))

    factors = [likelihood * 0.5 ** (passage.age / _HALF_LIFE) for passage, likelihood in likely]
    costs = [estimate_tokens(passage.text) + _FREE for passage, _ in likely]
    waiting = sorted((worth(number) / costs[number], number) for number in range(len(likely)))
    best: list[tuple[Passage, float]] = []
    while waiting and len(best) < _MOST:
        number = waiting.pop()[1]
        now = worth(number) / costs[number]  # less than before, if a passage chosen since has its words
        if waiting and now < waiting[-1][0]:
            _insert(waiting, (now, number))
            continue
        best.append((likely[number][0], now * costs[number]))
        for word in words[number]:
            weights[word] *= _TOLD
    return best


def _weights(words: Sequence[set[str]], told: str) -> dict[str, float]:
    """Return the worth of each word of the passages."""
    counts: dict[str, int] = {}
    for own in words:
        for word in own:
            counts[word] = counts.get(word, 0) + 1
    known = _words(told)
    return {
        word: log(1 + len(words) / count) * (_NAME if _is_name(word) else _WORD) * (_TOLD if word in known else 1)
        for word, count in counts.items()
    }


def _insert(waiting: list[tuple[float, int]], entry: tuple[float, int]) -> None:
    at = len(waiting)
    while at and waiting[at - 1] > entry:
        at -= 1
    waiting.insert(at, entry)


def _likelihood(passage: Passage) -> float:
    """Return how likely the agent works on with a passage: from 0 to 1."""
    names = sum(map(len, words_of(passage.text)))
    if not names and (passage.age > _JUST_SAID or len(passage.text) < _SHORTEST_NAMELESS):
        return 0.0
    return _NAMELESS + (1 - _NAMELESS) * min(1.0, names * _PER_NAME / max(len(passage.text), _PER_NAME))


def _blocks(text: str) -> Iterator[list[str]]:
    """Yield the lines of each paragraph or list, without code, headings and rules. A line that ends with a colon
    belongs to what follows it.
    """
    lines: list[str] = []
    is_code = False
    for line in map(one_line, text.splitlines()):
        is_fence = line.startswith(_FENCE)
        is_code ^= is_fence
        if is_code or is_fence:
            continue
        if line and not line.startswith("#") and not _RULES.issuperset(line):
            lines.append(line)
        elif lines and not lines[-1].endswith(":"):
            yield lines
            lines = []
    if lines:
        yield lines


def _parts(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a block, joined up to the length of a passage."""
    part = ""
    for line in lines:
        for sentence in _sentences(line):
            if part and len(part) + 1 + len(sentence) > _LONGEST:
                yield part
                part = ""
            part = f"{part} {sentence}".strip()
    if part:
        yield part


def _sentences(line: str) -> Iterator[str]:
    """Yield a line, or its sentences if it is longer than a passage."""
    begin = 0
    if len(line) > _LONGEST:
        for end in range(1, len(line) - 1):
            if line[end] in ".!?;" and line[end + 1] == " " and end - begin > _SHORTEST:
                yield cut(line[begin : end + 1].strip(), _LONGEST)
                begin = end + 1
    yield cut(line[begin:].strip(), _LONGEST)


def _announces(part: str) -> bool:
    """Return whether a passage only announces what follows it: `Now the tests:`."""
    return part.endswith(":") and len(part) < _LONGEST // 2


def _words(text: str) -> set[str]:
    """Return the words of a text: names and numbers as they are, others in small letters."""
    for separator in _SEPARATORS:
        text = text.replace(separator, " ")
    words = {word.strip(_AROUND) for word in text.split()}
    longer = [word for word in words if len(word) >= _SHORTEST_WORD or word.isdigit()]
    return {word if _is_name(word) else word.casefold() for word in longer}


def _is_name(word: str) -> bool:
    """Return whether a word has a digit, or a mark or capital inside."""
    if word.islower() and word.isalpha():
        return False
    bare = word.replace("-", "") or word
    if bare.isalpha():
        return bare[1:] != bare[1:].lower()
    return any(letter.isdigit() or letter.isupper() or letter in "_.:" for letter in word[1:]) or word[0].isdigit()
