"""The hook before each tool call, in a separate process that loads very little, because the agent waits for it.

It exits with 0, like the other hooks, and with 2 for a denied call if stdout takes no answer. It logs a problem and
shows it in one line, because a constraint that is not enforced must not look like one that is.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence

from unified_state.constraints.check_call import ToolCheck
from unified_state.errors import UsageError
from unified_state.interfaces.tool_hook import Run, given, limit_time, parse_event, tell, warn
from unified_state.lib.json_text import dump_ascii_json, parse_json
from unified_state.model.constraint import SKILL_EVENT, TOOL_EVENT
from unified_state.model.hook_event import HookEvent
from unified_state.settings import environment

BLOCKED = 2


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the hook `[DATA_DIR]` of the process's arguments, and exit the process."""
    arguments = sys.argv[1:] if arguments is None else arguments
    limit_time(TOOL_EVENT)
    os._exit(run(arguments[0] if arguments else ""))  # skips the interpreter's teardown of 2 ms; everything is closed


def run(data_dir: str = "") -> int:
    """Check the call on stdin and return the exit status."""
    answer = check(given, data_dir, environment())
    if tell(answer):
        return 0
    output = parse_json(answer).get("hookSpecificOutput", {})
    if output.get("permissionDecision") != "deny":
        return 0
    warn(output["permissionDecisionReason"])
    return BLOCKED


def check(read: Callable[[], bytes], data_dir: str, environ: Mapping[str, str]) -> str:
    """Return the answer to one tool call: JSON, or "". `read` returns the client's input."""
    hook = Run(TOOL_EVENT, data_dir)
    reports: list[str] = []

    def find() -> str:
        is_unread = False
        try:
            event, problem = parse_event(read(), TOOL_EVENT)
            if event.hook_event_name != SKILL_EVENT:  # the answer names the event, whatever the input calls it
                event = event.replace(hook_event_name=TOOL_EVENT)
        except UsageError as error:
            event, problem, is_unread = HookEvent(TOOL_EVENT), str(error), True
        hook.report(problem)
        checking = ToolCheck(event, hook.data_dir, environ, reports.append)
        hook.folder = checking.place.folder
        return checking.answer(is_unread=is_unread)

    output = hook.attempt(find)
    is_unchecked = hook.problem is not None
    hook.report(None if is_unchecked or not reports else reports[-1])
    if hook.problem is not None:
        hook.leave_trace()
        told = f"constraints were not checked: {hook.problem}" if is_unchecked else hook.problem
        return output or dump_ascii_json({"systemMessage": f"unified-state: {told}"})
    if hook.folder is not None:
        _remove_trace(hook.folder)
    return output


def _remove_trace(folder: str) -> None:
    """Remove the recorded problem of an earlier run."""
    try:
        os.unlink(os.path.join(folder, "runs", TOOL_EVENT))
    except OSError:
        return  # there is rarely one
