"""The levels: from which length on an output is shortened, and how much of it is then shown. The longer it is, the
smaller the share: as the square root.
"""

from __future__ import annotations

from math import isqrt

from unified_state.records.record import Record


class Limits(Record):
    """The limits of a level, in characters."""

    least: int
    scale: int

    def budget(self, characters: int) -> int:
        """How much of an output of this length is shown, beside what is never cut."""
        return self.scale * isqrt(characters)


GENTLE, MIDDLE, TIGHT = 1, 2, 3
LEVELS = {GENTLE: Limits(4_000, 50), MIDDLE: Limits(1_200, 26), TIGHT: Limits(700, 10)}
