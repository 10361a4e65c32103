"""The levels: from which length on an output is shortened, and how much of it is then shown. The longer it is, the
smaller the share: what is shown grows as the square root of the length, by a factor that each kind names for each
level.
"""

from __future__ import annotations

GENTLE, MIDDLE, TIGHT = LEVELS = (1, 2, 3)
NAMES = ("gentle", "middle", "tight")
_LEAST = (3_000, 1_000, 900)  # characters, by level
_MOST = (30_000, 16_000, 8_000)


def is_short(characters: int, level: int) -> bool:
    """Whether an output of this length is left alone."""
    return characters < _LEAST[level - 1]


def budget(characters: int, scales: tuple[int, int, int], level: int) -> int:
    """How many characters of an output of this length are shown, beside what is never cut."""
    return min(int(scales[level - 1] * characters**0.5), _MOST[level - 1])
