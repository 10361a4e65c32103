"""The roots of English words, for a search without SQLite's index: `planned` and `planning` are `plan`.

A root is always what its word begins with, so that a word can only stand where its root does. Cruder than Porter's
stemmer, which the index has.
"""

from __future__ import annotations

_ENDINGS = ("ings", "ing", "edly", "ed", "ies", "es", "s", "ly")
_SHORTEST = 3


def root_of(word: str) -> str:
    """What a word is known by, whatever its ending."""
    if not word.isascii() or not word.isalpha():
        return word
    root = next((_without(word, ending) for ending in _ENDINGS if _ends(word, ending)), word)
    if len(root) > _SHORTEST and root[-1] == root[-2] and root != word:
        root = root[:-1]
    return root[:-1] if len(root) > _SHORTEST and root[-1] in "ey" else root


def _ends(word: str, ending: str) -> bool:
    return word.endswith(ending) and len(word) - len(ending) >= _SHORTEST and not (ending == "s" and word[-2] == "s")


def _without(word: str, ending: str) -> str:
    return word[: -len(ending)]
