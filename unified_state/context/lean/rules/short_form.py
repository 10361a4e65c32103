"""Kinds of output, how they rank an output's units, and the short form written from the units that fit the budget.

A short form holds each shown piece as it was, and a mark for each gap that counts what is cut.
"""

from __future__ import annotations

from unified_state.context.lean.rules.cut_marks import characters_mark, lines_mark
from unified_state.lib.record import Record
from unified_state.model.step import Shortened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from unified_state.context.lean.rules.output_view import View
    from unified_state.context.lean.rules.tool_call import Call


_BEFORE, _BEHIND = 2, 4  # units around a trouble
_COST_OF_GAP = 25  # characters of a mark


class Ranking(Record):
    """`must` is shown whatever it costs, `order` as far as the budget goes, the most wanted first. `labels` tell what
    units are that need not be seen: a mark counts them. `about` is what is told of the whole
    beside it.
    """

    must: set[int]
    order: list[int]
    labels: dict[int, str] = {}  # noqa: RUF012  # a record's default never changes
    about: str = ""


class Kind(Record):
    """A kind of output. `fits` says whether an output is one, `rank` which units matter. `scales` say how much of it is
    shown, by level.
    """

    name: str
    scales: tuple[int, int, int]
    fits: Callable[[Call, View], bool]
    rank: Callable[[View], Ranking]


def with_troubles(view: View, ranking: Ranking) -> Ranking:
    """Return the ranking that also shows lines of trouble and their context; labelled units have no trouble."""
    troubles = around(view.troubles - ranking.labels.keys(), len(view.pieces))
    return ranking.replace(must=ranking.must | (troubles - ranking.labels.keys()))


def around(numbers: Iterable[int], count: int) -> set[int]:
    """The units with those around them."""
    return {at for number in numbers for at in range(max(0, number - _BEFORE), min(count, number + _BEHIND + 1))}


def ends_first(count: int, head: int = 1, tail: int = 1) -> list[int]:
    """All units, from both ends inwards: so many of the head, so many of the tail, and so on."""
    order: list[int] = []
    first, last = 0, count
    while first < last:
        step = min(first + head, last)
        order.extend(range(first, step))
        first = step
        step = max(first, last - tail)
        order.extend(range(last - 1, step - 1, -1))
        last = step
    return order


def pick(view: View, ranking: Ranking, budget: int) -> set[int]:
    """The units that are shown."""
    shown = ranking.must - view.blocks
    room = budget - sum(view.sizes[number] for number in shown)
    for number in ranking.order:
        if number in shown or number in view.blocks:
            continue
        cost = view.sizes[number] + _COST_OF_GAP * (number - 1 not in shown and number + 1 not in shown)
        if cost <= room:
            shown.add(number)
            room -= cost
        elif room < _COST_OF_GAP:
            break
    return shown


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
        """Return the short form, and the lines that it shows."""
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
        """Count the lines between by their labels; a line in pieces has the label of its first piece."""
        counts: dict[str, int] = {}
        for unit in units:
            label = self._labels.get(unit)
            if label and start <= self._starts[unit] < stop and self._begins_line(self._starts[unit]):
                counts[label] = counts.get(label, 0) + 1
        return counts
