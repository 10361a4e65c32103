"""A score for frequency and recency, stored in one number that does not change with time alone.

LRFU (Lee et al., IEEE Transactions on Computers 50(12), 2001) sums, over all sightings, their weight times a factor
that halves with every half-life since. The stored level is the logarithm of that sum plus the time in half-lives. It
stays constant between sightings, and levels from different times compare directly, so an index can sort them.
"""

from __future__ import annotations

from math import log2

_MOST_HALF_LIVES = 1000.0  # a float holds a little more


def raised(level: float | None, weight: float, clock: int, half_life: float) -> float:
    """Return the level after one more sighting of a weight, at a time in the unit of the half-life."""
    seen = clock / half_life + log2(weight)
    if level is None:
        return seen
    low, high = (level, seen) if level < seen else (seen, level)
    return high + log2(1.0 + 2.0 ** (low - high))


def score(level: float, clock: int, half_life: float) -> float:
    """Return the sum for a level, at a time in the same unit. The exponent is limited, for a clock that was set far
    back.
    """
    return float(2.0 ** min(level - clock / half_life, _MOST_HALF_LIVES))
