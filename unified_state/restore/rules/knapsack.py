"""Choose the lines of a restore under one token budget, the best worth for each token first.

Offers belong to a group (a section of lines, or a file with its identifiers). The group's own price is paid with its
first offer. No kind has a fixed share.
"""

from __future__ import annotations

from unified_state.lib.text import estimate_tokens, utf16_units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Offer = tuple[float, float, int, str, str]  # worth, tokens, UTF-16 units, group, text

_FREE = 0.01  # tokens, so that the divisor is never zero
_LEAST_TOKENS, _LEAST_UNITS = 1.0, 4  # smallest size of an offer: `#1` and its separator


class Group:
    """A heading for offers: its part of the restore, its own worth and its price, and the least worth of a token."""

    __slots__ = ("least", "offers", "part", "texts", "tokens", "units", "worth")

    def __init__(self, part: str, text: str = "", *, worth: float = 0.0, least: float = 0.0) -> None:
        self.part = part
        self.worth = worth
        self.least = least
        self.tokens = float(estimate_tokens(f"{text}\n")) if text else 0.0
        self.units = utf16_units(text) + 1 if text else 0
        self.offers: list[Offer] = []  # the worst first
        self.texts: list[str] = []

    def best_value(self) -> float:
        """Return the worth of the next offer for its tokens, with those of the group while it has no text."""
        worth, tokens = self.offers[-1][:2]
        if self.texts:
            return worth / (tokens + _FREE)
        return (worth + self.worth) / (tokens + self.tokens + _FREE)

    def take_next(self, room: Room) -> None:
        """Take the next offer, if there is room."""
        _, tokens, units, _, text = self.offers.pop()
        first = not self.texts
        if room.take(self.part, tokens + self.tokens * first, units + self.units * first):
            self.texts.append(text)


class Room:
    """The tokens left for all parts together, and the UTF-16 units left for each."""

    def __init__(self, tokens: float, units: dict[str, int]) -> None:
        self.tokens = tokens
        self._units = dict(units)

    def take(self, part: str, tokens: float, units: int) -> bool:
        """Take room for a text. Return whether there was enough."""
        if tokens > self.tokens or units > self._units[part]:
            return False
        self.tokens -= tokens
        self._units[part] -= units
        return True

    def is_open(self, part: str) -> bool:
        """Return whether a text can still fit into a part."""
        return self.tokens >= _LEAST_TOKENS and self._units[part] >= _LEAST_UNITS

    def take_line(self, part: str, line: str) -> bool:
        """Take room for a line. Return whether there was enough."""
        return self.take(part, estimate_tokens(f"{line}\n"), utf16_units(line) + 1)


def choose(offers: Iterable[Offer], groups: dict[str, Group], room: Room) -> None:
    """Select the texts of each group, the best worth for each token first, while there is room and they are worth what
    their group demands.
    """
    for offer in sorted(offers, key=_value):
        groups[offer[3]].offers.append(offer)
    values = {name: group.best_value() for name, group in groups.items() if group.offers}
    while values:
        name = max(values, key=values.__getitem__)
        group = groups[name]
        if values[name] < group.least:
            del values[name]
            continue
        group.take_next(room)
        if group.offers and room.is_open(group.part):
            values[name] = group.best_value()
        else:
            del values[name]


def _value(offer: Offer) -> float:
    return offer[0] / (offer[1] + _FREE)
