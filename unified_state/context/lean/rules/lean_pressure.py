"""How much tighter a session's outputs are shortened than its user chose, by how its context grows.

It rises at once, and falls only where the context is well below the threshold again, as after a compaction: so it does
not flicker.
"""

from __future__ import annotations

from unified_state.context.lean.rules.levels import LEVELS

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
