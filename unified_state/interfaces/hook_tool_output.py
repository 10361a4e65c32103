"""The hook after each tool call with a possibly long output.

It runs in a separate process that loads very little, because most outputs reach the model unchanged. It always exits
with 0. On a failure it prints nothing, so that the output stays unchanged, and logs the cause.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence

from unified_state.context.lean.long_output import Leaning, LongOutput, answer_to, long_output
from unified_state.context.lean.rules.levels import LEVELS, NAMES, TIGHT, is_short
from unified_state.interfaces.tool_hook import Run, given, limit_time, parse_event, tell
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
        raw = read()
        if is_short(len(raw), TIGHT):
            return ""
        event, problem = parse_event(raw, EVENT)
        hook.report(problem)
        output = long_output(event)
        if output is None:
            return ""
        if level not in NAMES:
            hook.report(f"there is no level {level!r} of lean context")
            return ""
        return _answer(hook, output, LEVELS[NAMES.index(level)], environ)

    answer = hook.attempt(find)
    if answer or hook.problem:
        hook.leave_trace()
    return answer


def _answer(hook: Run, output: LongOutput, level: int, environ: Mapping[str, str]) -> str:
    from unified_state.memory.repository.place import hook_settings, locate
    from unified_state.memory.workspace.session_project import session_project

    project, shell = session_project(output.event, environ, hook.data_dir), output.event.cwd
    place = locate(project, hook.data_dir, create=False, shell=shell)
    settings = hook_settings(place, hook.data_dir, environ)
    if not settings.enabled:
        return ""
    place = place if place.is_settled else locate(project, hook.data_dir, create=True, shell=shell)
    hook.folder = place.folder
    return answer_to(output, level, Leaning(place, settings, environ, hook.now, hook.report))
