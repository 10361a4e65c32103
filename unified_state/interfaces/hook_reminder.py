"""The hook that reminds before a tool call, in a process of its own that loads very little.

It always exits with 0 and never decides about the call. On a failure it prints nothing and logs the cause.
"""

from __future__ import annotations

import os
import sys

from unified_state.context.reminders.remind import ReminderCheck
from unified_state.interfaces.tool_hook import Run, given, limit_time, parse_event, tell
from unified_state.model.constraint import TOOL_EVENT
from unified_state.settings import environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the hook `[DATA_DIR]` of the process's arguments, and exit the process."""
    arguments = sys.argv[1:] if arguments is None else arguments
    limit_time(TOOL_EVENT)
    run(arguments[0] if arguments else "")
    os._exit(0)  # skips the interpreter's teardown of 2 ms; everything is closed


def run(data_dir: str = "") -> int:
    """Answer one tool call, and return the exit status."""
    tell(reminded(given, data_dir, environment()))
    return 0


def reminded(read: Callable[[], bytes], data_dir: str, environ: Mapping[str, str]) -> str:
    """Return the answer to one tool call: JSON, or "". `read` returns the client's input."""
    hook = Run(TOOL_EVENT, data_dir, f"{TOOL_EVENT}.reminder")

    def find() -> str:
        event, problem = parse_event(read(), TOOL_EVENT)
        hook.report(problem)
        checking = ReminderCheck(event, hook.data_dir, environ)
        hook.folder = checking.place.folder
        return checking.answer()

    answer = hook.attempt(find)
    if answer or hook.problem:
        hook.leave_trace()
    return answer
