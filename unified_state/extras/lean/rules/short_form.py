"""Kinds of output, their rankings of an output's units, and the short form made of the units that fit the budget.

A short form has each shown piece unchanged, and for each gap a mark that counts the cut units.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from unified_state.extras.lean.rules.cut_marks import characters_mark, lines_mark
from unified_state.extras.lean.rules.output_view import View
from unified_state.extras.lean.rules.tool_call import Call
from unified_state.lib.record import Record
from unified_state.model.step import ShortForm

_BEFORE, _BEHIND = 2, 4  # units before and after a line of trouble
_COST_OF_GAP = 25  # in characters, for the mark


class Ranking(Record):
    """The ranking of an output's units.

    `must` units are always shown. `order` units are shown as far as the budget allows, the most important first.
    `labels` describe unimportant units, which a mark counts.
    """

    must: set[int]
    order: list[int]
    labels: dict[int, str] = {}  # noqa: RUF012  # a record's default never changes


class Kind(Record):
    """A kind of output. `fits` recognises it, `rank` orders its units, and `scales` set how much is shown at each
    level.
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
    """Return the units and their neighbours."""
    return {at for number in numbers for at in range(max(0, number - _BEFORE), min(count, number + _BEHIND + 1))}


def ends_first(count: int, head: int = 1, tail: int = 1) -> list[int]:
    """Return all units from both ends inwards, alternating between `head` units and `tail` units."""
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
    """Return the units that are shown."""
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


_NAME = re.compile(r"\w{8,}")
_COST = 25  # in characters, in addition to the unit's own
_MOST_NAMES = 8  # names counted in one line, so that long lines have no advantage


def new_names(pieces: Sequence[str], order: Iterable[int]) -> dict[int, int]:
    """Return the number of new names in each unit, in this order."""
    known: set[str] = set()
    brought: dict[int, int] = {}
    for number in order:
        names = set(_NAME.findall(pieces[number])) - known
        brought[number] = min(len(names), _MOST_NAMES)
        known |= names
    return brought


def newest_first(pieces: Sequence[str], order: Sequence[int]) -> list[int]:
    """Return the units by the number of new names for their length. Equal units keep their order."""
    brought = new_names(pieces, order)
    return sorted(order, key=lambda number: -brought[number] / (len(pieces[number]) + _COST))


_SMALL_GAP = 30  # in characters; a mark is not shorter


def write(kind: str, view: View, shown: set[int], ranking: Ranking) -> ShortForm:
    """Return the short form that shows these units."""
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
    return writer.short_form(kind)


class _Writer:
    """Write ranges of a text from its beginning to its end.

    It counts the lines only once, because counting takes longer than everything else.
    """

    def __init__(self, view: View, labels: dict[int, str]) -> None:
        self._text = view.text
        self._starts = view.starts
        self._labels = labels
        self._written: list[str] = []
        self._line = 1  # line in which the next range begins
        self._next_whole = 1  # first line after the last cut
        self._shown: list[tuple[int, int]] = []
        self._parts: dict[int, None] = {}

    def show(self, start: int, stop: int) -> None:
        """Add a range unchanged."""
        self._written.append(self._text[start:stop])
        self._line += self._text.count("\n", start, stop)

    def cut(self, start: int, stop: int, units: range) -> None:
        """Add the marks for a range.

        There are up to three: the rest of its first line, whole lines, and the beginning of its last line.
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

    def short_form(self, kind: str) -> ShortForm:
        """Return the short form and its shown lines."""
        text = self._text
        lines = self._line - text.endswith("\n")
        shown = [*self._shown, (self._next_whole, lines)] if self._next_whole <= lines else self._shown
        return ShortForm(kind, "".join(self._written), tuple(shown), tuple(self._parts), lines, len(text))

    def _note_cut(self, start: int, stop: int, breaks: int) -> None:
        """Record the lines that a cut with this many line ends leaves whole, and the lines that it cuts in part."""
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
        """Count the cut lines by their labels. A line in pieces has the label of its first piece."""
        begun = (unit for unit in units if start <= self._starts[unit] < stop and self._begins_line(self._starts[unit]))
        return Counter(self._labels[unit] for unit in begun if unit in self._labels)
