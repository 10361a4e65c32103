"""Stop and SubagentStop as the launcher calls them: the client goes on at once, and the whole hook follows.

The message that ended a turn goes to the spool first, as a prompt does (see `hook_prompt`). Where it may hold a secret,
or the session's way is another one, the client waits for the whole hook to store it. Of a subagent nothing can be lost:
its transcript has all of it. A compaction's SubagentStop, which has no agent type, is the whole hook's.
"""

from __future__ import annotations

import sys
import time

from unified_state.interfaces.client_input import NOT_FOR_QUICK_HOOKS, given_event
from unified_state.lib.stdlib import set_alarm, system
from unified_state.memory.secrets.rules.quick_look import may_be_masked
from unified_state.memory.spool.hook_files import keep_prompt
from unified_state.memory.spool.session_way import is_as_it_was, noted_way

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_STOP = "Stop"
_GOES_ON = b'{"async":true}\n'  # the client does not wait for the end of a hook that writes this line first
_KIND = "text"  # of the archive's steps; their module loads more than all of this
_WHOLE_HOOK = {"timestamp", "cursor_version"}  # of another host, which does not know that line


def main() -> None:
    """Run the hook `EVENT [PART] [DATA_DIR]` of the process's arguments, and exit the process."""
    begin, goes_on = bytearray(), False
    try:
        event = given_event(begin)
        set_alarm(0, lambda: None)
        if event is not None and not _WHOLE_HOOK & event.keys():
            goes_on = _keep(event) if sys.argv[1] == _STOP else _is_named(event["agent_type"])
        if goes_on:
            system.write(1, _GOES_ON)
    except NOT_FOR_QUICK_HOOKS:
        pass  # the whole hook does it, or reports what is wrong
    from unified_state.interfaces.hook import main as run_hook
    from unified_state.interfaces.tool_hook import give_back

    give_back(bytes(begin))
    run_hook(goes_on=goes_on)


def _is_named(agent_type: object) -> bool:
    """Return whether a subagent ended, and not a compaction."""
    return isinstance(agent_type, str) and agent_type != ""


def _keep(event: dict[str, Any]) -> bool:
    """Store the message that ended the turn, if all is as it was."""
    message, session_id = event["last_assistant_message"], event["session_id"]
    if "agent_id" in event:
        return False
    way = noted_way(session_id, *sys.argv[3:4])
    if not way or way["syncs"] or not is_as_it_was(way, event["cwd"]) or may_be_masked(message):
        return False
    if message.strip():
        keep_prompt(way["folder"], session_id, [_KIND, message, int(time.time() * 1000)])
    return True
