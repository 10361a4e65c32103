r"""Terminal control sequences in a text, such as colours: what it says without them.

They are sought as they are (ESC, or the one character U+009B) and as programs write them in source and in JSON
(`\033[32m`, `\x1b[32m`, `\e[32m`, `\u001b[32m`). Texts are bytes, a character each.
"""

from __future__ import annotations

from itertools import accumulate

from unified_state.rules.secret_values import leading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

ESCAPE = b"\x1b"
CONTROL_INTRODUCER = b"\x9b"  # ESC and [ in one character

# How a sequence begins, the character behind ESC left out; a text is asked for the shorter second form first.
_WRITTEN = ((b"\\u001b", b"u001b"), (b"\\u001B", b"u001B"), (b"\\x1b", b"1b["), (b"\\x1B", b"1B["), (b"\\033", b"033["))
_SHORT = b"\\e"
_PARAMETERS = bytes(range(0x30, 0x40))
_INTERMEDIATE = bytes(range(0x20, 0x30))
_LONGEST = 64


def control_sequences(data: bytes) -> list[tuple[int, int]]:
    """Where the sequences in a text begin and end, in order and apart from each other."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(_sequences(data)):
        if not found or start >= found[-1][1]:
            found.append((start, end))
    return found


def _sequences(data: bytes) -> Iterator[tuple[int, int]]:
    for introducer in (ESCAPE, CONTROL_INTRODUCER):
        if introducer in data:
            yield from _introduced(data, introducer)
    for introducer, form in _WRITTEN:
        if form in data:
            yield from _introduced(data, introducer)
    if b"\\e[" in data:
        yield from _introduced(data, _SHORT)


def _introduced(data: bytes, introducer: bytes) -> Iterator[tuple[int, int]]:
    at = data.find(introducer)
    while at >= 0:
        behind = at + len(introducer)
        end = _end(data, behind, introducer)
        if end:
            yield at, end
        at = data.find(introducer, end or behind)


def _end(data: bytes, at: int, introducer: bytes) -> int:
    """Where a sequence ends, 0 where it is none; ECMA-48 says of which characters it consists."""
    window = data[at : at + _LONGEST]
    if introducer == CONTROL_INTRODUCER or window[:1] == b"[":
        bracket = 0 if introducer == CONTROL_INTRODUCER else 1
        parameters = leading(window[bracket:], _PARAMETERS)
        last = bracket + len(parameters) + len(leading(window[bracket + len(parameters) :], _INTERMEDIATE))
        first_final = b"@"
    elif introducer == ESCAPE:
        last, first_final = len(leading(window, _INTERMEDIATE)), b"0"
    else:
        return 0
    return at + last + 1 if first_final <= window[last : last + 1] <= b"~" else 0


def blanked(data: bytes, sequences: list[tuple[int, int]]) -> bytes:
    """The text with a blank for each character of the sequences: of the same length."""
    text = bytearray(data)
    for start, end in sequences:
        text[start:end] = b" " * (end - start)
    return bytes(text)


class Shown:
    """What a terminal shows of a text: without the sequences; and where in the text that stands."""

    def __init__(self, data: bytes, sequences: list[tuple[int, int]]) -> None:
        ends = [0, *(end for _, end in sequences)]
        starts = [*(start for start, _ in sequences), len(data)]
        parts = [data[end:start] for end, start in zip(ends, starts, strict=True)]
        self.text = b"".join(parts)
        self._ends = list(accumulate(map(len, parts)))
        self._shifts = [end - before for end, before in zip(ends, [0, *self._ends], strict=False)]

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Where in the whole text a part of what is shown begins and ends."""
        return start + self._shift(start), end + self._shift(end - 1)

    def _shift(self, at: int) -> int:
        low, high = 0, len(self._ends) - 1
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if at < self._ends[middle] else (middle + 1, high)
        return self._shifts[low]
