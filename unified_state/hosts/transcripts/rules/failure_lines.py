"""Extract the lines of an output that report failures.

Lines that name a place (`limiter.py:12: undefined: bucket`) are first, because they show where to continue.
"""

from __future__ import annotations

from unified_state.lib.identifiers import is_file
from unified_state.lib.shell.shell_commands import only_prints
from unified_state.lib.text import cut, one_line

_MOST, _MOST_LOCATED = 3, 2
_SHORTEST, _LONGEST = 12, 200  # characters
_LONGEST_PLACE = 200
_TRACES = ("FAIL", "rror", "ERROR", "panic:", "fatal:", "xception: ", "not ok")
_STARTS = ("--- FAIL", "FAIL", "ERROR", "error[", "error ", "error:", "panic:", "fatal:", "E   ", "not ok")
_MARKS = ("Error:", " error:", "Exception: ", ": error ", " FAILED")  # `fail_on_error: true` is none
_TRUNCATED = " characters truncated] ..."  # end of the client's mark, between two empty lines
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
    lines = [line.lstrip() for line in end.split("\n")]
    for place in [place for place, line in enumerate(lines) if line.endswith(_TRUNCATED)][::-1]:
        lines[max(0, place - 2) : place + 3] = []  # the client left only a part of the lines beside its mark
    found = [line for line in lines if line.startswith("E   ") or any(trace in line for trace in _TRACES)]
    located = [line for line in lines if ": " in line and names_place(line)] if found or is_error else []
    by_place = list({line.partition(": ")[0]: line for line in reversed(located)}.values())[::-1]
    others = list(filter(_tells_of_failure, found))
    told = [*by_place[:_MOST_LOCATED], *others[:1], *by_place[_MOST_LOCATED:], *others[1:]]
    if is_error and not told:
        told = lines[-1:]
    distinct = dict.fromkeys(cut(one_line(line), _LONGEST) for line in told)
    return [line for line in distinct if len(line) >= _SHORTEST][:_MOST]


def names_place(line: str) -> bool:
    """Return whether a line names the place of a problem: `src/a.py:12:5: …`."""
    path, _, rest = line[:_LONGEST_PLACE].partition(":")
    number, colon, _ = rest.partition(":")
    return number.isdigit() and bool(colon) and is_file(path)


def _tells_of_failure(line: str) -> bool:
    return line.startswith(_STARTS) or any(mark in line for mark in _MARKS)
