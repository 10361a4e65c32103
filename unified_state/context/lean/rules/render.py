"""A short form written from an output and the units that are shown of it: each piece as it was, and a mark for each gap
between them that counts what is cut.
"""

from __future__ import annotations

from unified_state.memory.archive.rules.cut_marks import characters_mark, lines_mark
from unified_state.model.step import Shortened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.context.lean.rules.output_view import View
    from unified_state.context.lean.rules.rank import Ranking

_SMALL_GAP = 30  # characters; a mark would be no shorter


def write(kind: str, view: View, shown: set[int], ranking: Ranking) -> Shortened:
    """The short form that shows these units."""
    writer = _Writer(view, ranking.labels)
    count = len(view.pieces)
    number = 0
    while number < count:
        end = number
        while end < count and (end in shown) == (number in shown):
            end += 1
        start, stop = view.starts[number], view.starts[end] if end < count else len(view.text)
        if number in shown or (stop - start <= _SMALL_GAP and view.blocks.isdisjoint(range(number, end))):
            writer.show(start, stop)
        else:
            writer.cut(start, stop, range(number, end))
        number = end
    return writer.short_form(kind, ranking.about)


class _Writer:
    """Writes stretches of a text, from its beginning to its end, and counts its lines on the way: once, for that takes
    longer than all the rest.
    """

    def __init__(self, view: View, labels: dict[int, str]) -> None:
        self._text = view.text
        self._starts = view.starts
        self._labels = labels
        self._written: list[str] = []
        self._line = 1  # in which the next stretch begins
        self._next_whole = 1  # the first line of which nothing was cut so far
        self._shown: list[tuple[int, int]] = []
        self._parts: dict[int, None] = {}

    def show(self, start: int, stop: int) -> None:
        """A stretch as it is."""
        self._written.append(self._text[start:stop])
        self._line += self._text.count("\n", start, stop)

    def cut(self, start: int, stop: int, units: range) -> None:
        """Marks for a stretch: for the rest of the line in which it begins, for whole lines, and for the beginning of
        the line in which it ends.
        """
        text = self._text
        breaks = text.count("\n", start, stop)
        self._note_cut(start, stop, breaks)
        if not self._begins_line(start):
            end = text.find("\n", start, stop)
            self._written.append(characters_mark((stop if end < 0 else end) - start))
            if end < 0:
                return
            self._written.append("\n")
            start = end + 1
            breaks -= 1
        last = stop if self._ends_line(stop) else text.rfind("\n", start, stop) + 1 or start
        if last > start:
            ending = text[last - 1] if text[last - 1] == "\n" else ""
            self._written.append(lines_mark(breaks + (not ending), self._counts(units, start, last)) + ending)
        if stop > last:
            self._written.append(characters_mark(stop - last))

    def short_form(self, kind: str, about: str) -> Shortened:
        """What was written, and which lines it shows."""
        text = self._text
        lines = self._line - text.endswith("\n")
        shown = [*self._shown, (self._next_whole, lines)] if self._next_whole <= lines else self._shown
        return Shortened(kind, "".join(self._written), tuple(shown), tuple(self._parts), lines, len(text), about)

    def _note_cut(self, start: int, stop: int, breaks: int) -> None:
        """Note which lines a cut with so many line ends leaves whole, and of which it takes a part."""
        first, self._line = self._line, self._line + breaks
        last = self._line - (self._text[stop - 1] == "\n")
        if not self._begins_line(start):
            self._parts[first] = None
        if not self._ends_line(stop):
            self._parts[last] = None
        if first > self._next_whole:
            self._shown.append((self._next_whole, first - 1))
        self._next_whole = last + 1

    def _begins_line(self, place: int) -> bool:
        return not place or self._text[place - 1] == "\n"

    def _ends_line(self, place: int) -> bool:
        return place == len(self._text) or self._text[place - 1] == "\n"

    def _counts(self, units: range, start: int, stop: int) -> dict[str, int]:
        """How many of the lines between are what; of a line in pieces the first says it."""
        counts: dict[str, int] = {}
        for unit in units:
            label = self._labels.get(unit)
            if label and start <= self._starts[unit] < stop and self._begins_line(self._starts[unit]):
                counts[label] = counts.get(label, 0) + 1
        return counts
