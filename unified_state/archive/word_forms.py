"""The forms in which a query's words may stand in the full-text index, beside those that the stemmer finds.

A form is a word, a prefix (`a24b142*`), or several words in a row (`get user profile`). Names of code are split where
their letters change case or give way to digits, and the index has these parts beside the name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from unified_state.lib.text import is_hash, split_name

Forms = Mapping[str, tuple[str, ...]]

_IRREGULAR = """
go went gone|buy bought|make made|see saw seen|take took taken|get got gotten|give gave given|find found|think thought
say said|tell told|know knew known|come came|become became|begin began begun|write wrote written|speak spoke spoken
run ran|sing sang sung|swim swam swum|drive drove driven|ride rode ridden|eat ate eaten|drink drank drunk|win won
lose lost|leave left|meet met|teach taught|catch caught|bring brought|build built|send sent|spend spent|sell sold
hold held|keep kept|sleep slept|feel felt|fall fell fallen|fly flew flown|grow grew grown|throw threw thrown
draw drew drawn|wear wore worn|choose chose chosen|break broke broken|forget forgot forgotten|hear heard|pay paid
sit sat|stand stood|understand understood|lead led|fight fought|seek sought|shoot shot|steal stole stolen
wake woke woken|hide hid hidden|feed fed|child children|man men|woman women|foot feet|mouse mice|show shown|deal dealt
mean meant|shake shook shaken|rise rose risen|freeze froze frozen|bind bound|stick stuck|strike struck|life lives
rewrite rewrote rewritten|rebuild rebuilt|undo undid undone|overwrite overwrote overwritten|index indices
"""
_FAMILIES = [family.split() for line in _IRREGULAR.splitlines() for family in line.split("|")]
_OTHERS = {word: tuple(other for other in family if other != word) for family in _FAMILIES for word in family}
_SHORT_HASHES = (7, 8, 10, 12)
_FEW, _SHORT = 2, range(3, 6)  # words of a query, and letters of a word, that may be the begin of a longer one


def forms_of(query: str, words: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the other forms of those of a query's words that have any."""
    forms: dict[str, list[str]] = {}
    for word in words:
        others = [*_OTHERS.get(word, ()), *_hashes(word)]
        if others:
            forms[word] = others
    for word, other in _split_names(query):
        if word in words:
            forms.setdefault(word, []).append(other)
    return {word: tuple(dict.fromkeys(others)) for word, others in forms.items()}


def begins_in(words: Sequence[str]) -> list[str]:
    """Return the words of a short query that may be the begin of a longer one: `auth`, of `authenticate`."""
    return [word for word in words if len(words) <= _FEW and len(word) in _SHORT and word.isascii() and word.isalpha()]


def with_begins(forms: Forms, begins: Sequence[str]) -> Forms:
    """Return the forms, with the longer words that have one of these begins."""
    return {**forms, **{word: (*forms.get(word, ()), f"{word}*") for word in begins}}


def _hashes(word: str) -> Iterator[str]:
    """Yield a prefix of longer ids, and the usual short forms of this one."""
    if is_hash(word):
        yield f"{word}*"
        yield from (word[:length] for length in _SHORT_HASHES if length < len(word))
    elif word.startswith("0x"):
        yield word[2:]


def _split_names(query: str) -> Iterator[tuple[str, str]]:
    """Yield each name of code in a query with its parts in a row."""
    for name in "".join(sign if sign.isalnum() else " " for sign in query).split():
        parts = split_name(name) if name.isascii() and not name.islower() else []
        if len(parts) > 1 and not is_hash(name.lower()):
            yield name.lower(), " ".join(parts).lower()
