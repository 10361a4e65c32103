"""What a terminal makes of a line: colours are no text, and what a carriage return writes over is not seen."""

from __future__ import annotations

_ESCAPE = "\x1b"
_PARAMETERS = "0123456789;:?"


def as_read(line: str) -> str:
    """A line without its colours, with the line end of Unix; of a bar that was drawn again and again the last state."""
    if _ESCAPE in line:
        begin, *others = line.split(_ESCAPE)
        line = begin + "".join(map(_without_sequence, others))
    if "\r" not in line:
        return line
    ending = "\n" if line.endswith("\n") else ""
    return line.rstrip("\r\n").rpartition("\r")[2] + ending


def _without_sequence(text: str) -> str:
    """What stands behind an escape, without the rest of its sequence."""
    if text.startswith("["):
        return text[1:].lstrip(_PARAMETERS)[1:]
    return text[2:] if text.startswith("(") else text
