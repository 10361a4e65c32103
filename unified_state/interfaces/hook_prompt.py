"""The prompt's hook as the launcher calls it: most prompts are only kept, by a process that loads next to nothing.

At the end of a turn Stop writes the session's way to its archive: what was looked at to find the archive and the
settings. While all of it is as it was, and nothing is to be added (see `hook_files`), the prompt is stored and the
process ends. Every other prompt gets the whole hook.
"""

from __future__ import annotations

import sys
import time

from unified_state.interfaces.client_input import NOT_FOR_QUICK_HOOKS, given_event
from unified_state.lib.stdlib import LateError, dump_json, system
from unified_state.memory.secrets.rules.quick_look import may_be_masked
from unified_state.memory.spool.hook_files import (
    is_overdue,
    keep_prompt,
    may_add_to,
    write_trace,
)
from unified_state.memory.spool.session_way import is_as_it_was, noted_way

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_EVENT, _END = "UserPromptSubmit", "Stop"
_KIND = "prompt"  # of the archive's steps; their module loads more than all of this
_WHOLE_HOOK = {"agent_id", "timestamp", "cursor_version"}  # a subagent's prompt, another host's
_MOST_KEPT, _LONGEST_KEPT = 12, 86_400_000  # prompts and milliseconds; other processes failed to archive them


def main() -> None:
    """Run the hook `UserPromptSubmit [PART] [DATA_DIR]` of the process's arguments, and exit the process."""
    started = time.monotonic()
    begin = bytearray()
    try:
        event = given_event(begin)
        if event is not None and (folder := _keep(event, started)):
            _try_to_archive(folder, event)
            system._exit(0)  # noqa: SLF001  # as `os` has it; everything is closed
    except NOT_FOR_QUICK_HOOKS:
        pass  # the whole hook does it, or reports what is wrong
    from unified_state.interfaces.hook import main as run_hook
    from unified_state.interfaces.tool_hook import give_back

    give_back(bytes(begin))
    run_hook()


def _keep(event: dict[str, Any], started: float) -> str:
    """Store the prompt and the trace of this run, if all is as it was and nothing is to be added. Return the folder of
    the archive, or "".
    """
    prompt, session_id = event["prompt"], event["session_id"]
    if _WHOLE_HOOK & event.keys() or not prompt.strip():
        return ""
    way = noted_way(session_id, *sys.argv[3:4])
    if not way or not is_as_it_was(way, event["cwd"]):
        return ""
    folder = str(way["folder"])
    is_told = may_add_to(folder, way["archive"], session_id, prompt)
    if is_told or is_overdue(folder, session_id, _MOST_KEPT, _LONGEST_KEPT) or may_be_masked(prompt):
        return ""
    now = int(time.time() * 1000)
    write_trace(folder, _EVENT, now, round((time.monotonic() - started) * 1000))
    keep_prompt(folder, session_id, [_KIND, prompt, now])
    return folder


def _try_to_archive(folder: str, event: dict[str, Any]) -> None:
    """Archive if many prompts wait. Where no process can be made the next prompt tries again: this one is kept."""
    try:
        _archive_if_many(folder, event)
    except (OSError, ValueError, LateError):
        return


def _archive_if_many(folder: str, event: dict[str, Any]) -> None:
    """Archive in another process what waits for a Stop that does not come: a user stopped the turns."""
    if not is_overdue(folder, event["session_id"]):
        return
    from unified_state.interfaces.detach import detach

    if not detach():
        return
    try:
        from unified_state.interfaces.hook import main as run_hook
        from unified_state.interfaces.tool_hook import give_back

        given = {name: value for name, value in event.items() if name != "prompt"}
        give_back(dump_json({**given, "hook_event_name": _END}).encode("utf-8", "replace"))
        run_hook([_END, *sys.argv[2:4]])
    finally:
        system._exit(0)  # noqa: SLF001
