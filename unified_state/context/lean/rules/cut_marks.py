"""The words of ours in a short form: the marks of the cuts, and the handle of the whole.

An output that holds such marks already is never shortened, so in a short form every mark is ours.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.model.step import Shortened

MARK = "[\u2026 "  # every mark begins with it
_HANDLE = "; recall S"  # every handle holds it
_RECALLED = "--- S"  # what `recall` prints of a step begins with it and the step's number
_NEXT_LINES = 60  # of a cut that the handle proposes to look at


def holds_marks(text: str) -> bool:
    """Whether an output holds what could be taken for a mark or a handle of ours."""
    return MARK in text or _HANDLE in text


def is_recalled(text: str) -> bool:
    """Whether `recall` printed it, whatever the command was that ran it."""
    return text.startswith(_RECALLED) and text[len(_RECALLED) : len(_RECALLED) + 1].isdigit()


def lines_mark(count: int, labels: dict[str, int]) -> str:
    """In place of whole lines: `[… 212 lines: 200 passed]`."""
    told = ", ".join(f"{number:,} {label}" for label, number in labels.items())
    return f"{MARK}{_counted(count, 'line')}{': ' if told else ''}{told}]"


def characters_mark(count: int) -> str:
    """In place of a part of a line: `[… 1,200 characters]`."""
    return f"{MARK}{_counted(count, 'character')}]"


def with_handle(short: Shortened, ref: str) -> str:
    """The short form below a line that says how much it shows and how to see the rest, and one that tells what the
    whole looks like, where that is known. `ref` names the archived whole, such as `S1234`.
    """
    shown = f"shown {short.lines_shown:,}" + (f" and parts of {len(short.parts):,}" if short.parts else "")
    ways = "" if short.lines == 1 else f" --lines {_worth_a_look(short)} |"
    about = f"[{short.about}]\n" if short.about else ""
    return f"[{ref}: {_counted(short.lines, 'line')}, {shown}; recall {ref}{ways} --grep REGEX]\n{about}{short.text}"


def repeat_handle(ref: str, lines: int) -> str:
    """Return the text in place of an output that the context holds already, word for word."""
    return f"[{ref}: {_counted(lines, 'line')}, the same as before, which stands above; recall {ref}]"


def _worth_a_look(short: Shortened) -> str:
    """The beginning of the longest cut."""
    ends = [0, *(last for _, last in short.shown)]
    begins = [*(first for first, _ in short.shown), short.lines + 1]
    length, first = max((begin - end - 1, -end) for end, begin in zip(ends, begins, strict=True))
    return f"{1 - first}:{min(length, _NEXT_LINES) - first}"


def _counted(count: int, name: str) -> str:
    return f"{count:,} {name}{'' if count == 1 else 's'}"
