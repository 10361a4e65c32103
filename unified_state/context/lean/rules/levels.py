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


_SHARES = (60, 80)  # percent of the way to the next compaction
_TURNS = (8, 3)  # left to it at the present growth
_HOLD = 10  # percent by which the share has to fall below a threshold
_HOLD_TURNS = 2  # times as many turns have to be left


def pressure_of(percent: float, turns_left: int | None, before: int) -> int:
    """By how many levels outputs are shortened tighter: 0, 1 or 2. `before` is what it was."""
    left = float("inf") if turns_left is None else turns_left
    risen = sum(
        percent >= share or (left <= turns and percent >= share / 2)
        for share, turns in zip(_SHARES, _TURNS, strict=True)
    )
    held = sum(
        percent >= share - _HOLD or (left <= turns * _HOLD_TURNS and percent >= share / 2)
        for share, turns in zip(_SHARES, _TURNS, strict=True)
    )
    return max(risen, min(held, before))


def level_in_force(chosen: int, pressure: int) -> int:
    """The level that is shortened at."""
    return min(chosen + pressure, LEVELS[-1])
