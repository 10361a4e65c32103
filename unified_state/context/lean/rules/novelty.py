"""How much a line says that no line before it said: names that come for the first time are what an agent takes up."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_SEPARATOR = "\x00"
_WORDS = "".join(  # what stands for each character of ASCII; others stay
    sign if sign.isalnum() or sign in {"_", _SEPARATOR} else " " for sign in map(chr, range(128))
)
_SHORTEST = 8  # characters of a name
_COST = 25  # characters that any unit costs beside its own
_MOST_NAMES = 8  # of a line that count: a line is no better for being long


def new_names(pieces: Sequence[str], order: Iterable[int]) -> dict[int, int]:
    """For each unit, in this order, how many names it brings."""
    words = _SEPARATOR.join([piece.replace(_SEPARATOR, " ") for piece in pieces]).translate(_WORDS).split(_SEPARATOR)
    known: set[str] = set()
    brought: dict[int, int] = {}
    for number in order:
        names = {word for word in words[number].split() if len(word) >= _SHORTEST} - known
        brought[number] = min(len(names), _MOST_NAMES)
        known |= names
    return brought


def newest_first(pieces: Sequence[str], order: Sequence[int]) -> list[int]:
    """The units, those first that bring many new names in few characters; else in the order given."""
    brought = new_names(pieces, order)
    return sorted(order, key=lambda number: -brought[number] / (len(pieces[number]) + _COST))
