"""The hook before each tool call, in a process of its own that loads hardly anything: it stands between the agent and
every tool.

It exits 0 whatever happens, as the other hooks do. What goes wrong is logged, and told in one line, for a constraint
that is not enforced must not look like one that is.
"""

from __future__ import annotations

import os
import sys

from unified_state.constraints.check_call import ToolCheck
from unified_state.interfaces.tool_hook import ToolHookRun, given, parse_event, tell
from unified_state.lib.stdlib import dump_ascii_json
from unified_state.model.constraint import TOOL_EVENT
from unified_state.settings import environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from unified_state.model.hook_event import HookEvent


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the hook `[DATA_DIR]` of the process's arguments, and leave the process."""
    arguments = sys.argv[1:] if arguments is None else arguments
    run(arguments[0] if arguments else "")
    os._exit(0)  # tearing the interpreter down takes 2 ms, and everything is closed


def run(data_dir: str = "") -> int:
    """Check the call on stdin; the exit status."""
    tell(check(lambda: parse_event(given(), TOOL_EVENT), data_dir, environment()))
    return 0


def check(read: Callable[[], tuple[HookEvent, str | None]], data_dir: str, environ: Mapping[str, str]) -> str:
    """What the client is answered to one call: JSON, or nothing. `read` gives the event and what is wrong with it."""
    hook = ToolHookRun(TOOL_EVENT, data_dir)
    reports: list[str] = []

    def find() -> str:
        event, problem = read()
        hook.report(problem)
        checking = ToolCheck(event, hook.data_dir, environ, reports.append)
        hook.folder = checking.place.folder
        return checking.answer()

    output = hook.answer(find)
    is_unchecked = hook.problem is not None
    hook.report(None if is_unchecked or not reports else reports[-1])
    if hook.problem is not None:
        hook.leave_trace()
        told = f"constraints were not checked: {hook.problem}" if is_unchecked else hook.problem
        return output or dump_ascii_json({"systemMessage": f"unified-state: {told}"})
    if hook.folder is not None:
        _take_trace_away(hook.folder)
    return output


def _take_trace_away(folder: str) -> None:
    """A good run takes the problem of an earlier one away."""
    try:
        os.unlink(os.path.join(folder, "runs", TOOL_EVENT))
    except OSError:
        return  # as a rule there was none
