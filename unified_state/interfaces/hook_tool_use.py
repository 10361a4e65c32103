"""The hook before each tool call, in a process of its own that loads hardly anything: it stands between the agent and
every tool.

It exits 0 whatever happens, as the other hooks do. What goes wrong is logged, and told in one line, for a constraint
that is not enforced must not look like one that is.
"""

from __future__ import annotations

import os
import sys
import time

from unified_state.errors import UnifiedStateError
from unified_state.interpreter import dump_ascii_json
from unified_state.records.enforced import TOOL_EVENT
from unified_state.services.tool_check import ToolCheck
from unified_state.settings import default_data_dir, environment
from unified_state.sources.hook_input import parse_event, read_stdin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from unified_state.records.hook_event import HookEvent

_STDIN_SECONDS = 5.0


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the hook `[DATA_DIR]` of the process's arguments, and leave the process."""
    arguments = sys.argv[1:] if arguments is None else arguments
    run(arguments[0] if arguments else "")
    os._exit(0)  # tearing the interpreter down takes 2 ms, and everything is closed


def run(data_dir: str = "") -> int:
    """Check the call on stdin; the exit status."""
    output = check(
        lambda: parse_event(read_stdin(sys.stdin.fileno(), _STDIN_SECONDS), TOOL_EVENT),
        data_dir or default_data_dir(),
        environment(),
    )
    if output:
        sys.stdout.buffer.write(output.encode("utf-8", "replace"))  # whatever the locale says
        sys.stdout.flush()
    return 0


def check(read: Callable[[], tuple[HookEvent, str | None]], data_dir: str, environ: Mapping[str, str]) -> str:
    """What the client is answered to one call: JSON, or nothing. `read` gives the event and what is wrong with it."""
    started, now = time.monotonic(), int(time.time() * 1000)
    reports: list[str] = []
    folder: str | None = None
    failure: str | None = None
    output = details = ""
    try:
        event, failure = read()
        checking = ToolCheck(event, data_dir, environ, reports.append)
        folder = checking.place.folder
        output = checking.answer()
    except UnifiedStateError as error:
        failure = str(error)
    except BaseException as error:  # noqa: BLE001  # the hook's edge: nothing of ours may fail the user's turn
        import traceback

        failure, details = f"{type(error).__name__}: {error}", traceback.format_exc()
    if failure or reports:
        problem = _leave_trace(data_dir, folder, now, started, failure or reports[-1], details)
        told = f"constraints were not checked: {problem}" if failure else problem
        return output or dump_ascii_json({"systemMessage": f"unified-state: {told}"})
    if folder is not None:
        _take_trace_away(folder)
    return output


def _leave_trace(data_dir: str, folder: str | None, now: int, started: float, problem: str, details: str) -> str:
    """Write down what went wrong; the problem as it may be told."""
    from unified_state.rules.masking import mask_text
    from unified_state.services.health import HookRun, log_problem, note_run

    # A message may quote what was to be done.
    problem, details = (mask_text(text, lambda _secret: "in-log") for text in (problem, details))
    try:
        if folder is not None and os.path.isdir(folder):
            note_run(folder, HookRun(TOOL_EVENT, now, round((time.monotonic() - started) * 1000), problem))
        log_problem(data_dir, now, TOOL_EVENT, problem, details)
    except OSError as error:
        print(f"unified-state: {error}", file=sys.stderr)  # noqa: T201  # there is only stderr left
    return problem


def _take_trace_away(folder: str) -> None:
    """A good run takes the problem of an earlier one away."""
    try:
        os.unlink(os.path.join(folder, "runs", TOOL_EVENT))
    except OSError:
        return  # as a rule there was none
