"""The forms in which a query's words may stand in the full-text index, beside those that the stemmer finds.

A form is a word, a prefix (`a24b142*`), or several words in a row (`get user profile`). Names of code are split where
their letters change case or give way to digits, and the index has these parts beside the name.
"""

from __future__ import annotations

from itertools import pairwise

from unified_state.lib.query import words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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
_LEAST_HASH, _MOST_HASH = 6, 40  # digits of a commit id, in a query
_SHORT_HASHES = (7, 8, 10, 12)
_HEXADECIMAL = frozenset("0123456789abcdef")
_SHORTEST_NAME, _LONGEST_NAME, _SHORTEST_PART, _MOST_PARTS = 4, 60, 3, 8
_MOST_KNOWN = 50_000  # names in the cache
_NAMES = bytes(byte if chr(byte).isalnum() and byte < 0x80 else 0x20 for byte in range(256))  # noqa: PLR2004  # ASCII
_MOST_JOINED = 8  # words of a query that may stand in one name


def forms_of(query: str, words: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the other forms of those of a query's words that have any."""
    forms: dict[str, list[str]] = {}
    for word in words:
        others = [*_OTHERS.get(word, ()), *_hashes(word)]
        if others:
            forms[word] = others
    for word, other in (*_split_names(query), *_joined(query, words)):
        if word in words:
            forms.setdefault(word, []).append(other)
    return {word: tuple(dict.fromkeys(others)) for word, others in forms.items()}


def split_name(name: str) -> list[str]:
    """Return the parts of a name: `HTTPServerError` is HTTP, Server and Error, `TS2345` is TS and 2345."""
    parts, begin = [], 0
    for at in range(1, len(name)):
        before, here, after = name[at - 1], name[at], name[at + 1 : at + 2]
        is_capital = here.isupper() and (not before.isupper() or after.islower())
        if is_capital or here.isdigit() != before.isdigit():
            parts.append(name[begin:at])
            begin = at
    return [*parts, name[begin:]]


def is_hash(word: str) -> bool:
    """Return whether a word looks like a commit id or a part of one."""
    return (
        _LEAST_HASH <= len(word) <= _MOST_HASH
        and _HEXADECIMAL.issuperset(word)
        and not word.isdigit()
        and not word.isalpha()
    )


def parts_of_names(text: str) -> str:
    """Return the parts of the names of code in a text, as the index has them: each once, in order."""
    return " ".join(sorted({part for _, parts in names_with_parts(text) for part in parts.split()}))


def names_with_parts(text: str) -> list[tuple[str, str]]:
    """Return the names of code in a text with their parts, and the joined parts from each one to the last:
    `getUserProfile` has get, user, profile and userprofile.
    """
    names = set(text.encode("latin-1", "replace").translate(_NAMES).split())
    return list(filter(None, map(_known.__getitem__, names)))


class _Known(dict):  # type: ignore[type-arg]  # typing is not loaded here
    """A cache of the names that have parts, None for most words. It is emptied when it is full."""

    def __missing__(self, word: bytes) -> tuple[str, str] | None:
        if len(self) > _MOST_KNOWN:
            self.clear()
        found = self[word] = _name_with_parts(word)
        return found


def _name_with_parts(word: bytes) -> tuple[str, str] | None:
    if len(word) < _SHORTEST_NAME or len(word) > _LONGEST_NAME or word.isdigit():
        return None
    if word.isalpha() and (word.islower() or word.isupper() or word.istitle()):
        return None
    name = word.decode("ascii")
    parts = [part.lower() for part in split_name(name)]
    if len(parts) == 1 or len(parts) > _MOST_PARTS or is_hash(name.lower()):
        return None
    if name[:2] in {"0x", "0X"}:
        return name, name[2:].lower()
    tails = ["".join(parts[first:]) for first in range(1, len(parts) - 1)]
    told = [part for part in (*parts, *tails) if len(part) >= _SHORTEST_PART]
    return (name, " ".join(told)) if told else None


_known = _Known()


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


def _joined(query: str, words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each word with the name that it forms with the word beside it: `auth service` may be `authService`."""
    if len(words) > _MOST_JOINED:
        return
    for first, second in pairwise(words_of(query)):
        if first in words and second in words and first.isalpha() and second.isalpha() and (first + second).isascii():
            yield first, first + second
            yield second, first + second
