"""Split an output into units: a line, or a piece of a long line. A short form shows or cuts each unit.

Both ends of an output are split completely. Between them only lines of trouble (errors, failures, important warnings)
and the lines around them become separate units. So the cost of a rule does not grow with the output.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Any

_CLOSELY, _MANY_LINES = 48_000, 2_000  # length of each end that is split completely
_LONG_LINE, _PIECE = 600, 200  # characters
_SEPARATORS = (',"', ", ", "},", " ")  # separators at which a long line is split, the best first


class View:
    """The units of an output.

    Unit `n` begins at `starts[n]`, has `sizes[n]` characters, and has the text `pieces[n]` without colours and with
    Unix line ends. `blocks` are the units that are not read. Their pieces are empty here.
    """

    def __init__(self, text: str, *, has_troubles: bool) -> None:
        self.text = text
        self.starts: list[int] = []
        self.blocks: set[int] = set()
        places = trouble_places(text) if has_troubles else []
        self.is_all_trouble = len(places) > MOST
        head = _end_of_head(text)
        tail = max(head, _start_of_tail(text))
        self._add(0, head)
        at = head
        for place in [place for place in places[:MOST] if head <= place < tail]:
            start, end = _context(text, place)
            self._add_block(at, start)
            self._add(max(at, start), end)
            at = max(at, end)
        self._add_block(at, tail)
        self._add(max(at, tail), len(text))
        ends = [*self.starts[1:], len(text)]
        pieces = [
            "" if number in self.blocks else text[start:end]
            for number, (start, end) in enumerate(zip(self.starts, ends, strict=True))
        ]
        self.sizes = list(map(len, pieces))
        self.pieces = list(map(as_read, pieces)) if "\x1b" in text or "\r" in text else pieces
        self.troubles = {self.unit_at(place) for place in places}

    def unit_at(self, place: int) -> int:
        """Return the unit that contains a character of the output."""
        return bisect_right(self.starts, place) - 1

    def _add_block(self, start: int, end: int) -> None:
        if start < end:
            self.blocks.add(len(self.starts))
            self.starts.append(start)

    def _add(self, start: int, end: int) -> None:
        for first, last in _lines(self.text, start, end):
            self.starts.append(first)
            if last - first > _LONG_LINE:
                self.starts.extend(_cuts(self.text, first, last))


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end:
        stop = text.find("\n", start, end) + 1 or end
        yield start, stop
        start = stop


def _cuts(text: str, start: int, end: int) -> Iterator[int]:
    """Yield the starts of a long line's pieces, except the first."""
    while end - start > _PIECE:
        found = (text.rfind(separator, start + _PIECE // 4, start + _PIECE) for separator in _SEPARATORS)
        start = next((at + 1 for at in found if at >= 0), start + _PIECE)
        yield start


def _end_of_head(text: str) -> int:
    """Return the end of the part at the beginning that is split completely. A very long line may be divided."""
    lines = text[:_CLOSELY].split("\n", _MANY_LINES)
    if len(lines) > _MANY_LINES:
        return min(len(text), _CLOSELY) - len(lines[-1])
    return len(text) if len(text) <= _CLOSELY else text.rfind("\n", 0, _CLOSELY) + 1 or _CLOSELY


def _start_of_tail(text: str) -> int:
    """Return the start of the part at the end that is split completely."""
    start = max(0, len(text) - _CLOSELY)
    lines = text[start:].rsplit("\n", _MANY_LINES)
    if len(lines) > _MANY_LINES:
        return start + len(lines[0]) + 1
    return text.find("\n", start) + 1 or start


def _context(text: str, place: int) -> tuple[int, int]:
    """Return the range of a place's line with two lines before and three after it. A long line counts only in part."""
    start = end = place
    for _ in range(3):
        start = max(text.rfind("\n", max(0, start - _LONG_LINE), start), place - _LONG_LINE, 0)
    for _ in range(4):
        found = text.find("\n", end, end + _LONG_LINE)
        end = min(len(text), found + 1 if found >= 0 else end + _LONG_LINE)
    return min(start + 1, place), end


_SEQUENCE = re.compile(r"\x1b(?:\[[0-9;:?]*[^\x1b]?|\([^\x1b]?)?", re.DOTALL)


def as_read(line: str) -> str:
    """Return a line without colours and with a Unix line end. Of a redrawn progress bar only the last state remains."""
    line = _SEQUENCE.sub("", line)
    if "\r" not in line:
        return line
    ending = "\n" if line.endswith("\n") else ""
    return line.rstrip("\r\n").rpartition("\r")[2] + ending


_WORDS = (  # matched in any case; each search takes half a millisecond a megabyte
    b"error", b"fail", b"panic", b"fatal", b"critical", b"exception", b"traceback", b"not ok", b"assertion", b"denied",
    b"refused", b"segmentation", b"undefined", b"unresolved", b"not found", b"no such", b"backoff",
    b"oomkilled", b"unhealthy",
)  # fmt: skip
_SPELLINGS: dict[str | bytes, tuple[str, ...]] = {  # words that count only in these spellings
    b"fail": ("FAIL", "failed", "Failed", "failure", "Failure"),
    b"critical": ("CRITICAL",),
    b"traceback": ("Traceback",),
}
_SIGNS = ("\u2717", "\u2718", "\u2716", "\u25cf")
MOST = 2_000  # an output with more lines of trouble is not shortened
_NO_TROUBLE = (
    "0 errors",
    "no errors",
    "0 failed",
    "0 failures",
    "Failures: 0, Errors: 0",
    "failed=0",
    "fail 0",
    "0 error",
    '"error": null',
    '"error":null',
    '"errors": []',
)


def trouble_places(text: str) -> list[int]:
    """Return one position in each line of trouble, in order. An output with very many may return somewhat more than
    `MOST`.
    """
    places: dict[int, int] = {}  # by the end of the line
    folded = text.encode("ascii", "replace").lower()  # one byte for each character, so positions stay equal
    for word in _WORDS:
        _note_lines(text, folded.find, word, places)
    for sign in () if text.isascii() else _SIGNS:
        _note_lines(text, text.find, sign, places)
    return sorted(place for end, place in places.items() if not _is_none(text[max(0, place - 20) : end][:80]))


def _note_lines(text: str, find: Callable[[Any, int], int], trace: str | bytes, places: dict[int, int]) -> None:
    """Record the first position of a trace in each line."""
    spellings = _SPELLINGS.get(trace)
    place = find(trace, 0)
    while place >= 0 and len(places) <= MOST:
        behind = place + 1
        if spellings is None or text.startswith(spellings, place):
            end = text.find("\n", place)
            behind = end = len(text) if end < 0 else end
            places.setdefault(end, place)
        place = find(trace, behind)


def _is_none(line: str) -> bool:
    return any(words in line for words in _NO_TROUBLE)
