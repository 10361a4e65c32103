"""How much a line says that no line before it said: names that come for the first time are what an agent takes up."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_WORD_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
_BLANKS = {code: " " for code in range(128) if chr(code) not in _WORD_CHARACTERS}
_SHORTEST = 8  # characters of a name
_COST = 25  # characters that any unit costs beside its own
_MOST_NAMES = 8  # of a line that count: a line is no better for being long


def new_names(pieces: Sequence[str], order: Iterable[int]) -> dict[int, int]:
    """For each unit, in this order, how many names it brings."""
    known: set[str] = set()
    brought: dict[int, int] = {}
    for number in order:
        names = {word for word in pieces[number].translate(_BLANKS).split() if len(word) >= _SHORTEST}
        brought[number] = min(len(names - known), _MOST_NAMES)
        known |= names
    return brought


def newest_first(pieces: Sequence[str], order: Sequence[int]) -> list[int]:
    """The units, those first that bring many new names in few characters; else in the order given."""
    brought = new_names(pieces, order)
    return sorted(order, key=lambda number: -brought[number] / (len(pieces[number]) + _COST))
