r"""Terminal control sequences in a text, such as colors, and the text without them.

They are found as bytes (ESC, or the single character U+009B) and in the notations of source code and JSON (`\033[32m`,
`\x1b[32m`, `\e[32m`, `\u001b[32m`). Texts are bytes, one per character.
"""

from __future__ import annotations

from unified_state.memory.secrets.rules.secret_values import leading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

ESCAPE = b"\x1b"
CONTROL_INTRODUCER = b"\x9b"  # ESC and [ in one character

# The starts of a sequence. The second, shorter form without the character after the backslash is searched first.
_WRITTEN = ((b"\\u001b", b"u001b"), (b"\\u001B", b"u001B"), (b"\\x1b", b"1b["), (b"\\x1B", b"1B["), (b"\\033", b"033["))
_SHORT = b"\\e"
_PARAMETERS = bytes(range(0x30, 0x40))
_INTERMEDIATE = bytes(range(0x20, 0x30))
_LONGEST = 64
_BEFORE, _BEHIND = 160, 400  # characters of context around a sequence


def control_sequences(data: bytes) -> list[tuple[int, int]]:
    """Return start and end of the sequences in a text, in order and without overlaps."""
    found: list[tuple[int, int]] = []
    if ESCAPE not in data and b"[" not in data and CONTROL_INTRODUCER not in data:
        return found
    for start, end in sorted(_sequences(data)):
        if not found or start >= found[-1][1]:
            found.append((start, end))
    return found


def _sequences(data: bytes) -> Iterator[tuple[int, int]]:
    for introducer in (ESCAPE, CONTROL_INTRODUCER):
        if introducer in data:
            yield from _introduced(data, introducer)
    if b"\\" not in data:
        return
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
    """Return the end of a sequence, by the grammar of ECMA-48; 0 if it is none."""
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
    """Return the text, of the same length, with a blank for each character of the sequences."""
    text = bytearray(data)
    for start, end in sequences:
        text[start:end] = b" " * (end - start)
    return bytes(text)


class Shown:
    """The visible text around the sequences of a text, and a map from its positions to those in the whole text."""

    def __init__(self, data: bytes, sequences: list[tuple[int, int]]) -> None:
        parts: list[bytes] = []
        self._starts: list[int] = []  # of each part, in the visible text
        self._shifts: list[int] = []  # from there to its position in the whole text
        length = done = 0
        for (start, end), (following, _) in zip(sequences, [*sequences[1:], (len(data), 0)], strict=True):
            first = max(done, start - _BEFORE)
            if first > done:
                first = _behind_blank(data, first, start)
                parts.append(b"\n")
                length += 1
            last = min(following, end + _BEHIND)
            for piece_start, piece_end in ((first, start), (end, last)):
                self._starts.append(length)
                self._shifts.append(piece_start - length)
                parts.append(data[piece_start:piece_end])
                length += piece_end - piece_start
            done = last
        self.text = b"".join(parts)

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return start and end in the whole text of a part of the visible text."""
        return start + self._shift(start), end + self._shift(end - 1)

    def _shift(self, at: int) -> int:
        low, high = 0, len(self._starts) - 1
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._starts[middle] <= at else (low, middle - 1)
        return self._shifts[low]


def _behind_blank(data: bytes, first: int, start: int) -> int:
    """Return a position between words, so that no word is cut."""
    return next((at + 1 for at in range(first, start) if data[at] in b" \n\t"), start)
