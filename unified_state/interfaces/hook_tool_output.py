"""The hook after each tool call with a possibly long output.

It runs in a separate process that loads very little, because most outputs reach the model unchanged. It always exits
with 0. On a failure it prints nothing, so that the output stays unchanged, and logs the cause.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence

from unified_state.extension import need
from unified_state.interfaces.tool_hook import Run, given, limit_time, tell
from unified_state.model.hook_event import LEAN_LEVELS
from unified_state.settings import environment

EVENT = "PostToolUse"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the hook `LEVEL [DATA_DIR]` of the process's arguments, and exit the process."""
    limit_time(EVENT)
    run(*(sys.argv[1:] if arguments is None else arguments)[:2])
    os._exit(0)  # skips the interpreter's teardown of 2 ms; everything is closed


def run(level: str = "", data_dir: str = "") -> int:
    """Answer one tool output if it is shortened, and return the exit status."""
    tell(shortened(given, level, data_dir, environment()))
    return 0


def shortened(read: Callable[[], bytes], level: str, data_dir: str, environ: Mapping[str, str]) -> str:
    """Return the answer to one output: JSON, or "" if it stays unchanged. `read` returns the client's input."""
    hook = Run(EVENT, data_dir)

    def find() -> str:
        if level not in LEAN_LEVELS:
            hook.report(f"there is no level {level!r} of lean context")
            return ""
        found: str = need("SHORTEN_OUTPUT")(hook, read, LEAN_LEVELS.index(level) + 1, environ)
        return found

    answer = hook.attempt(find)
    if answer or hook.problem:
        hook.leave_trace()
    return answer
