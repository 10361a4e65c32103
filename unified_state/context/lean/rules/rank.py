"""What a rule says of an output's units, and what is shown of them within a budget."""

from __future__ import annotations

from unified_state.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unified_state.context.lean.rules.output_view import View


_BEFORE, _BEHIND = 2, 4  # units around a trouble
_COST_OF_GAP = 25  # characters of a mark


class Ranking(Record):
    """`must` is shown whatever it costs, `order` as far as the budget goes, the most wanted first. `labels` tell what
    units are that need not be seen: a mark counts them. `about` is what is told of the whole
    beside it.
    """

    must: set[int]
    order: list[int]
    labels: dict[int, str] = {}  # noqa: RUF012  # a record's default, which nobody changes
    about: str = ""


def with_troubles(view: View, ranking: Ranking) -> Ranking:
    """The ranking that also shows each line of trouble and what stands around it; what is labelled has no troubles."""
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
