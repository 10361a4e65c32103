"""Parts of a long text: lines by their numbers, and the lines in which a pattern was found.

A line ends at a line feed and nowhere else, as in the marks of lean context. What is shown stands in the text.
"""

from __future__ import annotations

from unified_state.errors import UsageError
from unified_state.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_MATCHES = 200
_LONG_LINE, _AROUND = 600, 250  # characters; of a longer line with a match, what stands around it


class Match(Record):
    """Where a pattern was found first in a line: its number, from 1, and the place in it."""

    line: int
    start: int
    end: int


def lines_of(text: str) -> list[str]:
    """The lines of a text, without their ends."""
    return text.removesuffix("\n").split("\n")


def parse_range(text: str, count: int) -> tuple[int, int]:
    """`200:260`, `200:`, `:60` or `200`, of so many lines: the first and the last. Raises UsageError."""
    first, colon, last = text.replace(",", "").partition(":")
    parts = [part.strip() for part in (first, last)]
    if not any(parts) or not all(part == "" or (part.isascii() and part.isdigit()) for part in parts):
        message = f"{text[:60]!r} is no range of lines"
        raise UsageError(message, "say 200:260, 200:, :60 or 200")
    begin = max(1, _number(parts[0] or "1"))
    end = min(count, _number(parts[1]) if parts[1] else count if colon else begin)
    if begin > end:
        message = f"there are no lines {text[:60]}: it has {count:,}"
        raise UsageError(message, "say 200:260, 200:, :60 or 200")
    return begin, end


def shown_matches(lines: Sequence[str], matches: Sequence[Match]) -> str:
    """The lines with a match, each behind its number, as `grep -n` prints them."""
    return "\n".join(f"{match.line}:{_around(lines[match.line - 1], match)}" for match in matches)


def _around(line: str, match: Match) -> str:
    if len(line) <= _LONG_LINE:
        return line
    start, end = max(0, match.start - _AROUND), min(len(line), match.start + _AROUND)
    return f"[… {start:,} characters]{line[start:end]}[… {len(line) - end:,} characters]"


def _number(digits: str) -> int:
    return int(digits[:18])  # more than there are lines anywhere
