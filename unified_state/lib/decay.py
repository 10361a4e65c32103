"""A score of how often and how recently something was seen, in one number that time alone never changes.

LRFU (Lee et al., IEEE Transactions on Computers 50(12), 2001) sums, over all sightings, their weight times a factor
that halves with every half-life since. Kept as the logarithm of that sum plus the time in half-lives, the number stays
as it is while nothing happens, and numbers from different times compare directly, so that an index can keep them in
order.
"""

from __future__ import annotations

from math import log2

_MOST_HALF_LIVES = 1000.0  # a float holds a little more
HALF_LIFE = 40.0  # steps; measured: 30 to 60 do nearly as well on real sessions, 250 worse


def raised(level: float | None, weight: float, clock: int, half_life: float = HALF_LIFE) -> float:
    """The level after one more sighting of a weight, at a time in steps; or in whatever unit the half-life has."""
    seen = clock / half_life + log2(weight)
    if level is None:
        return seen
    low, high = (level, seen) if level < seen else (seen, level)
    return high + log2(1.0 + 2.0 ** (low - high))


def growth(age: int, half_life: float = HALF_LIFE) -> float:
    """By how much a sighting outweighs an equal one that was so many steps before it."""
    return float(2.0 ** (age / half_life))


def score(level: float, clock: int, half_life: float = HALF_LIFE) -> float:
    """The sum that a level stands for, at a time in the same unit. Where the clock was set back by ages, a large number
    and no error.
    """
    return float(2.0 ** min(level - clock / half_life, _MOST_HALF_LIVES))
