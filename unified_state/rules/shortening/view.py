"""An output taken apart into units, each of which a short form shows or cuts: a line; of a long line a piece.

Both ends of an output are looked at closely. Between them only lines that tell of trouble are units of their own, so
what a rule costs does not grow with the output.
"""

from __future__ import annotations

from bisect import bisect_right

from unified_state.rules.shortening.troubles import trouble_places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_CLOSELY = 96_000  # characters of either end
_LONG_LINE, _PIECE = 600, 200  # characters
_SEPARATORS = (',"', ", ", "},", " ")  # where a long line is cut, the best first
_MOST_BETWEEN = 400  # troubles between the ends; more are no exception


class View:
    """The units of an output: unit `n` is `pieces[n]`, it begins at `starts[n]`, and `blocks` holds the units that were
    not looked at. Joined, the pieces are the output.
    """

    def __init__(self, text: str, *, has_troubles: bool) -> None:
        self.text = text
        self.starts: list[int] = []
        self.blocks: set[int] = set()
        places = trouble_places(text) if has_troubles else []
        head = _line_start(text, min(len(text), _CLOSELY))
        tail = max(head, _line_start(text, len(text) - _CLOSELY))
        self._add(0, head)
        between = [place for place in places if head <= place < tail]
        self.is_all_trouble = len(between) > _MOST_BETWEEN
        at = head
        for place in between[:_MOST_BETWEEN]:
            start, end = _context(text, place)
            if start > at:
                self._add_block(at, start)
            self._add(max(at, start), max(at, end))
            at = max(at, end)
        if tail > at:
            self._add_block(at, tail)
        self._add(max(at, tail), len(text))
        self.pieces = [text[start:end] for start, end in zip(self.starts, [*self.starts[1:], len(text)], strict=True)]
        self.troubles = {self.unit_at(place) for place in places}

    def unit_at(self, place: int) -> int:
        """The unit in which a character of the output stands."""
        return bisect_right(self.starts, place) - 1

    def _add_block(self, start: int, end: int) -> None:
        if start < end:
            self.blocks.add(len(self.starts))
            self.starts.append(start)

    def _add(self, start: int, end: int) -> None:
        for first, last in _lines(self.text, start, end):
            self.starts.append(first)
            if last - first > _LONG_LINE:
                self.starts.extend(_cuts(self.text, first, last))


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end:
        stop = text.find("\n", start, end) + 1 or end
        yield start, stop
        start = stop


def _cuts(text: str, start: int, end: int) -> Iterator[int]:
    """Where the pieces of a long line begin, but for the first."""
    while end - start > _PIECE:
        found = (text.rfind(separator, start + _PIECE // 4, start + _PIECE) for separator in _SEPARATORS)
        start = next((at + 1 for at in found if at >= 0), start + _PIECE)
        yield start


def _line_start(text: str, place: int) -> int:
    """The beginning of the line in which a character stands; the place itself in a line too long to look at."""
    if place <= 0 or place >= len(text):
        return max(0, min(place, len(text)))
    start = text.rfind("\n", max(0, place - _CLOSELY // 2), place) + 1
    return start or place


def _context(text: str, place: int) -> tuple[int, int]:
    """The line of a place with two before and three behind it; of long lines no more than a piece."""
    start = end = place
    for _ in range(3):
        start = max(text.rfind("\n", max(0, start - _LONG_LINE), start), place - _LONG_LINE, 0)
    for _ in range(4):
        found = text.find("\n", end, end + _LONG_LINE)
        end = min(len(text), found + 1 if found >= 0 else end + _LONG_LINE)
    return min(start + 1, place), end
