"""Comparison of two statements: same or opposite, judged by their words alone. Precision is preferred to recall.

The result never merges items. Two statements are alike if they have the same content words. They are opposite if only a
negation, a number with a unit, or the thing chosen for the same purpose differs. A condition that only one of them has
(`unless`, `when`) makes them incomparable.
"""

from __future__ import annotations

from unified_state.lib.record import Record

DUPLICATES, CONTRADICTS = "duplicates", "contradicts"

_FILLERS = {
    "a", "an", "the", "we", "i", "you", "they", "it", "its", "this", "that", "these", "those", "there", "our",
    "your", "is", "are", "be", "been", "was", "were", "will", "would", "should", "shall", "must", "can", "could",
    "may", "might", "do", "does", "did", "has", "have", "had", "of", "to", "for", "in", "on", "at", "by", "as",
    "with", "and", "or", "also", "all", "any", "each", "every", "always", "please", "just", "let", "lets", "let's",
    "use", "uses", "using", "used", "go", "going", "choose", "chosen", "pick", "adopt", "prefer", "from", "into",
    "so", "then", "than",
}  # fmt: skip
_NEGATIONS = {
    "not", "no", "never", "don't", "dont", "doesn't", "won't", "cannot", "can't", "mustn't", "shouldn't", "isn't",
    "aren't", "avoid",
}  # fmt: skip
_CONDITIONS = {
    "if", "unless", "except", "only", "when", "until", "before", "after", "while", "during", "without", "but",
    "instead", "otherwise",
}  # fmt: skip
_ORDERED = {"over", "than", "before", "after", "instead", "from", "into", "to"}
_OPPOSITES = {
    "disable": "enable", "forbid": "allow", "disallow": "allow", "ban": "allow", "prohibit": "allow", "remove": "keep",
    "delete": "keep", "drop": "keep", "exclude": "include", "stop": "start",
}  # fmt: skip
_CHOICES = {"use", "using", "choose", "pick", "adopt", "prefer", "take"}
_PURPOSES = {"for", "as"}
_UNITS = {
    "%", "ms", "s", "sec", "second", "minute", "min", "hour", "h", "day", "week", "kb", "mb", "gb", "tb", "byte",
    "token", "character", "column", "line", "space", "retry", "retrie", "time", "worker", "thread", "connection",
    "item", "row", "px", "percent",
}  # fmt: skip
_NUMBER_VERBS = {
    "is", "=", "to", "at", "of", "most", "least", "under", "below", "above", "max", "maximum", "min", "minimum",
    "port", "limit",
}  # fmt: skip
_MOST_EXTRA = 0.2  # share of the content words that only one of two equal statements may have
_LEAST_SHARED, _LONGEST_VALUE, _LONGEST_STATEMENT = 2, 3, 60


class Statement(Record):
    """The parts of a text that are compared."""

    words: tuple[str, ...]
    content: frozenset[str]
    numbers: tuple[str, ...]
    negations: int


_STATEMENTS: dict[str, Statement] = {}
_MOST_STATEMENTS = 1_000


def relation(new: str, old: str) -> str | None:
    """Return the relation of a new statement to an old one: `duplicates`, `contradicts` or None."""
    return statement_relation(read_statement(new), read_statement(old))


def repeats(new: str, old: str) -> bool:
    """Return whether a statement says the same as another, in the same words or nearly so."""
    return _folded(new) == _folded(old) or relation(new, old) == DUPLICATES


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".。!?;")


def read_statement(text: str) -> Statement:
    """Return the comparable parts of a text.

    A program that records many items compares with the same ones again and again, so they are kept. (`functools` would
    cost a hook a millisecond.)
    """
    if text not in _STATEMENTS:
        if len(_STATEMENTS) == _MOST_STATEMENTS:
            _STATEMENTS.clear()
        _STATEMENTS[text] = _statement(text)
    return _STATEMENTS[text]


def _statement(text: str) -> Statement:
    words = tuple(_words(text))[:_LONGEST_STATEMENT]
    kept, numbers, negations = set(), [], 0
    for word in words:
        if word in _NEGATIONS:
            negations += 1
        elif word in _OPPOSITES:
            negations += 1
            kept.add(_stem(_OPPOSITES[word]))
        elif word[0].isdigit():
            numbers.append(word)
        elif word not in _FILLERS:
            kept.add(_stem(word))
    return Statement(words, frozenset(kept), tuple(numbers), negations)


def statement_relation(new: Statement, old: Statement) -> str | None:
    """Return the relation of two parsed statements."""
    if {*new.words} & _CONDITIONS != {*old.words} & _CONDITIONS or max(new.negations, old.negations) > 1:
        return None
    if new.negations != old.negations:
        is_opposite = new.numbers == old.numbers and _same_content(new.content, old.content)
    elif not _same_content(new.content, old.content):
        is_opposite = _chooses_otherwise(new, old)
    elif new.numbers == old.numbers and not _swapped(new, old):
        return DUPLICATES
    else:
        is_opposite = new.numbers == old.numbers or _measures_otherwise(new, old)
    return CONTRADICTS if is_opposite else None


def _words(text: str) -> list[str]:
    spaced = "".join(
        character if character.isalnum() or character in "_./-+#'%=" else " "
        for character in text.lower().replace("\u2019", "'").replace("=", " = ").replace("%", " % ")
    )
    return [bare for word in spaced.split() if (bare := word.strip("./-+'#") or ("=" if word == "=" else ""))]


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if len(word) > len(ending) + 3 and word.endswith(ending) and word.isalpha():
            return word[: -len(ending)].rstrip("e")
    return word.rstrip("e") if word.isalpha() else word


def _same_content(new: frozenset[str], old: frozenset[str]) -> bool:
    """Return whether the content words are the same. One of the two may have a few more, but not both."""
    extra = new ^ old
    one_sided = new <= old or old <= new
    return len(new & old) >= _LEAST_SHARED and one_sided and len(extra) <= _MOST_EXTRA * len(new | old)


def _swapped(new: Statement, old: Statement) -> bool:
    """Return whether the same words are in another order around an ordering word: X over Y, Y over X."""
    if new.content != old.content or not {*new.words} & {*old.words} & _ORDERED:
        return False
    return _in_order(new) != _in_order(old)


def _in_order(statement: Statement) -> list[str]:
    return [word for word in map(_stem, statement.words) if word in statement.content]


def _chooses_otherwise(new: Statement, old: Statement) -> bool:
    """Return whether both choose a different thing for the same purpose."""
    (value, purpose), (older_value, older_purpose) = _choice(new.words), _choice(old.words)
    return bool(value and older_value and purpose and purpose == older_purpose and not value & older_value)


def _choice(words: tuple[str, ...]) -> tuple[set[str], set[str]]:
    """Return the thing and the purpose of `use THING for PURPOSE`."""
    start = next((at for at, word in enumerate(words) if word in _CHOICES), None)
    middle = next((at for at, word in enumerate(words) if word in _PURPOSES and start is not None and at > start), None)
    if start is None or middle is None or not 0 < middle - start - 1 <= _LONGEST_VALUE:
        return set(), set()
    if any(word not in _FILLERS for word in words[:start]):
        return set(), set()
    value = {_stem(word) for word in words[start + 1 : middle] if word not in _FILLERS}
    return value, {_stem(word) for word in words[middle + 1 :] if word not in _FILLERS}


def _measures_otherwise(new: Statement, old: Statement) -> bool:
    """Return whether both give a different measure for the same thing. A name with a number, such as `issue 12`, is no
    measure.
    """
    return len(new.numbers) == len(old.numbers) == 1 and _is_measure(new) and _is_measure(old)


def _is_measure(statement: Statement) -> bool:
    at = next(at for at, word in enumerate(statement.words) if word[0].isdigit())
    before, after = statement.words[at - 1] if at else "", "".join(statement.words[at + 1 : at + 2])
    has_unit = not statement.words[at].isdigit() and statement.words[at].lstrip("0123456789.") in _UNITS
    return before in _NUMBER_VERBS or _stem(after) in _UNITS or after in _UNITS or has_unit
