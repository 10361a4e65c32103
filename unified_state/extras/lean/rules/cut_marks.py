"""Our texts in a short form: the marks of the cuts, and the handle of the whole output.

An output that already contains such marks is never shortened, so every mark in a short form is ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unified_state.lib.text import counted

if TYPE_CHECKING:
    from unified_state.model.step import ShortForm

MARK = "[\u2026 "  # beginning of every mark
_HANDLE = "; show S"  # part of every handle
_RECALLED = "--- S"  # beginning of a step that `show` prints, before the step's number
_NEXT_LINES = 60  # of a cut, in the range that the handle proposes


def holds_marks(text: str) -> bool:
    """Return whether an output contains text that looks like our mark or handle."""
    return MARK in text or _HANDLE in text


def is_recalled(text: str) -> bool:
    """Return whether `show` printed the text, for any command line that ran it."""
    return text.startswith(_RECALLED) and text[len(_RECALLED) : len(_RECALLED) + 1].isdigit()


def lines_mark(count: int, labels: dict[str, int]) -> str:
    """Return the mark that replaces whole lines: `[… 212 lines: 200 passed]`."""
    told = ", ".join(f"{number:,} {label}" for label, number in labels.items())
    return f"{MARK}{counted(count, 'line')}{': ' if told else ''}{told}]"


def characters_mark(count: int) -> str:
    """Return the mark that replaces a part of a line: `[… 1,200 characters]`."""
    return f"{MARK}{counted(count, 'character')}]"


def with_handle(short: ShortForm, ref: str) -> str:
    """Return the short form with its header.

    The header states how much is shown and how to see the rest.
    `ref` names the archived output, such as `S1234`.
    """
    shown = f"shown {short.lines_shown:,}" + (f" and parts of {len(short.parts):,}" if short.parts else "")
    ways = "" if short.lines == 1 else f" --lines {_worth_a_look(short)} |"
    return f"[{ref}: {counted(short.lines, 'line')}, {shown}; show {ref}{ways} --grep REGEX]\n{short.text}"


def _worth_a_look(short: ShortForm) -> str:
    """Return the range of lines at the beginning of the longest cut."""
    ends = [0, *(last for _, last in short.shown)]
    begins = [*(first for first, _ in short.shown), short.lines + 1]
    length, first = max((begin - end - 1, -end) for end, begin in zip(ends, begins, strict=True))
    return f"{1 - first}:{min(length, _NEXT_LINES) - first}"
