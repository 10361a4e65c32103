"""Of a log: the first lines, the last lines, each line of trouble, and of lines that differ in nothing but numbers the
first; the others are counted.
"""

from __future__ import annotations

from unified_state.context.lean.rules.rank import Ranking, ends_first

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.context.lean.rules.output_view import View
    from unified_state.context.lean.rules.tool_call import Call

KIND = "log"
SCALES = (50, 20, 9)  # by level
_DIGITS = str.maketrans("", "", "0123456789")
_LEVELS = ("INFO", "DEBUG", "WARN", "ERROR", "TRACE", "info", "debug", "warn", "error", '"level"', '"time"', '"ts"')
_HEAD = 60  # characters in which time and level stand
_LOOKED_AT = 60
_LEAST_SHARE = 0.6
_TIME_DIGITS = 5
_LONGEST_LIKENESS = 160
_FIRST, _LAST = 2, 5


def fits(_call: Call, view: View) -> bool:
    """Whether most lines of an output begin with a time or a level."""
    lines = [piece for piece in view.pieces[:_LOOKED_AT] if piece.strip()]
    return len(lines) > _FIRST and sum(map(_is_logged, lines)) >= _LEAST_SHARE * len(lines)


def rank(view: View) -> Ranking:
    """The ends, then what is like no line before it; no repeats."""
    pieces = view.pieces
    count = len(pieces)
    known: set[str] = set()
    repeats: dict[int, str] = {}
    for number, piece in enumerate(pieces):
        likeness = _likeness(piece)
        if likeness in known:
            repeats[number] = "like others"
        known.add(likeness)
    ends = {*range(min(_FIRST, count)), *range(max(0, count - _LAST), count)}
    distinct = [number for number in ends_first(count) if number not in repeats]
    return Ranking(ends, distinct, repeats)


def _likeness(piece: str) -> str:
    """A line without its numbers: in that two repeats of an event differ."""
    return piece.translate(_DIGITS)[:_LONGEST_LIKENESS]


def _is_logged(line: str) -> bool:
    head = line.lstrip()[:_HEAD]
    start = head[: _HEAD // 2]
    has_time = sum(map(str.isdigit, start)) >= _TIME_DIGITS and ":" in start and start[:1] in "0123456789[({JFMASOND"
    return (has_time and (start.count(":") > 1 or "-" in start)) or head.startswith(_LEVELS) or '"level"' in line[:300]
