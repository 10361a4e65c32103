"""Extract the lines of an output that report failures.

Lines that name a place (`limiter.py:12: undefined: bucket`) are first, because they show where to continue.
"""

from __future__ import annotations

from collections.abc import Iterable

from unified_state.lib.identifiers import is_file
from unified_state.lib.shell.shell_commands import only_prints
from unified_state.lib.text import cut, one_line

_MOST, _MOST_LOCATED = 3, 2
_SHORTEST, _LONGEST = 12, 200  # characters
_LONGEST_PLACE = 200
_TRACES = (
    "FAIL",
    "rror",
    "ERROR",
    "panic:",
    "fatal:",
    "xception: ",
    "not ok",
    "\nE   ",
)  # cheap search before each line is checked
_STARTS = ("--- FAIL", "FAIL", "ERROR", "error[", "error ", "panic:", "fatal:", "E   ", "not ok")
_MARKS = ("Error:", "error:", "Exception: ", ": error ", " FAILED")
# A client's answers in place of an output. They mean that nothing ran.
_NOT_RUN = (
    "<tool_use_error>",
    "The user doesn't want to proceed",
    "Permission to use ",
    "apply_patch verification failed",
    "exec command rejected by user",
    "patch rejected by user",
)


def failing_lines(end: str, command: str, *, is_error: bool) -> list[str]:
    """Return the lines at the end of a command's output that report failures.

    If the output is an error and no line reports a failure, return its last line.
    """
    if not end or end.startswith(_NOT_RUN) or (command and not is_error and only_prints(command)):
        return []
    found = [line.lstrip() for line in _lines_with(_TRACES, end)]
    located = [line for line in _lines_with((": ",), end) if names_place(line.lstrip())] if found or is_error else []
    by_place = list({line.lstrip().partition(": ")[0]: line for line in reversed(located)}.values())[::-1]
    others = list(filter(_tells_of_failure, found))
    lines = [*by_place[:_MOST_LOCATED], *others[:1], *by_place[_MOST_LOCATED:], *others[1:]]
    if is_error and not lines:
        lines = [end[end.rfind("\n") + 1 :]]
    distinct = dict.fromkeys(cut(one_line(line), _LONGEST) for line in lines)
    return [line for line in distinct if len(line) >= _SHORTEST][:_MOST]


def names_place(line: str) -> bool:
    """Return whether a line names the place of a problem: `src/a.py:12:5: …`."""
    path, _, rest = line[:_LONGEST_PLACE].partition(":")
    number, colon, _ = rest.partition(":")
    return number.isdigit() and bool(colon) and is_file(path)


def _lines_with(words: Iterable[str], text: str) -> list[str]:
    """Return the lines of a text that contain one of the words, in order."""
    ends: dict[int, int] = {}
    for word in words:
        position = text.find(word)
        while position >= 0:
            end = text.find("\n", position + 1)
            end = len(text) if end < 0 else end
            ends[text.rfind("\n", 0, position + 1) + 1] = end
            position = text.find(word, end)
    return [text[start:end] for start, end in sorted(ends.items())]


def _tells_of_failure(line: str) -> bool:
    return line.startswith(_STARTS) or any(mark in line for mark in _MARKS)
