"""The short form of a tool output."""

from __future__ import annotations

from unified_state.lib.record import Record


class Shortened(Record):
    """What is shown of an output. `text` holds pieces of the output, byte for byte and in order, and marks in place of
    what is cut. `shown` are the lines that stand there whole, as ranges from 1 with both ends; `parts` the lines of
    which a part stands there. `lines` and `characters` measure the whole output, and `about` tells what it looks like.
    """

    kind: str
    text: str
    shown: tuple[tuple[int, int], ...]
    parts: tuple[int, ...]
    lines: int
    characters: int
    about: str = ""

    @property
    def lines_shown(self) -> int:
        """How many lines stand there whole."""
        return sum(last - first + 1 for first, last in self.shown)
