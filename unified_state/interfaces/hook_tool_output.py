"""The hook after each tool call with a possibly long output.

It runs in a separate process that loads very little, because most outputs reach the model unchanged. It always exits
with 0. On a failure it prints nothing, so that the output stays unchanged, and logs the cause.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence

from unified_state.extras.lean.long_output import shortened_output
from unified_state.extras.lean.rules.levels import NAMES, is_short
from unified_state.interfaces.tool_hook import Run, given, limit_time, parse_event, tell
from unified_state.model.hook_event import HookEvent
from unified_state.model.step import Shortened
from unified_state.settings import environment

EVENT = "PostToolUse"
_LOCK_SECONDS = 2.0


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
        if level not in NAMES:
            hook.report(f"there is no level {level!r} of lean context")
            return ""
        raw, number = read(), NAMES.index(level) + 1
        if is_short(len(raw), number):
            return ""
        event, problem = parse_event(raw, EVENT)
        hook.report(problem)
        found = shortened_output(event, number)
        return "" if found is None else _answer(hook, event, *found, number, environ)

    answer = hook.attempt(find)
    if answer or hook.problem:
        hook.leave_trace()
    return answer


def _answer(hook: Run, event: HookEvent, whole: str, short: Shortened, level: int, environ: Mapping[str, str]) -> str:
    from unified_state.extras.lean.archive_output import archive_and_shorten
    from unified_state.project.place import hook_settings, locate
    from unified_state.project.workspace.own_program import own_program
    from unified_state.project.workspace.session_project import session_project
    from unified_state.project.workspace.workspace import Workspace

    shell = event.cwd
    project = session_project(event.session_id, environ, hook.data_dir, shell) or os.getcwd()
    place = locate(project, hook.data_dir, create=False, shell=shell)
    settings, program = hook_settings(place, hook.data_dir, environ), own_program(environ)
    if not settings.enabled or program is None:  # without a program nothing could recall it
        return ""
    place = place if place.is_settled else locate(project, hook.data_dir, create=True, shell=shell)
    hook.folder = place.folder
    workspace = Workspace(place, settings, report=hook.report, session_id=event.session_id, seconds=_LOCK_SECONDS)
    return archive_and_shorten(workspace, event, whole, short, level=level, now=hook.now, program=program)
