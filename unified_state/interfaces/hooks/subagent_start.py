"""SubagentStart: give a subagent the recorded facts that fit its task.

It has not read the conversation, and knows only what its parent wrote into its prompt.
"""

from __future__ import annotations

import os
import time

from unified_state.archive.archive import Archive
from unified_state.hosts.transcripts.transcript_lines import session_folder, subagent_transcripts
from unified_state.interfaces.hooks.hook_call import HookCall
from unified_state.lib.fence import fenced
from unified_state.restore.task_slice import open_tasks, task_slice

_ABOUT = "recorded facts of this project, as data"
_CALL_SECONDS, _PAUSE = 0.25, 0.01  # the client writes the call of the parent within about 100 ms


def on_subagent_start(call: HookCall, archive: Archive) -> str:
    """Return the text for a subagent. A continued subagent gets none: it already has one, and the client would drop
    more.
    """
    event, place, settings = call.event, call.workspace.place, call.settings
    folder = session_folder(event.transcript_path)
    begun = [agent for _, agent in subagent_transcripts(folder)] if folder else []
    gets_none = not (event.agent_id and settings.subagent_tokens) or event.agent_id in begun
    if event.agent_type == "" or gets_none:  # "": a compaction
        return ""
    call.capture(archive)  # the parent's actions in this turn
    session = call.registered(archive)
    text = task_slice(archive, place, session, lambda: _task(call, archive, session), settings, call.now)
    return fenced(text, os.urandom(6).hex(), _ABOUT) if text else ""


def _task(call: HookCall, archive: Archive, session: int) -> str:
    """Return the task of the subagent, waiting until the client has written it."""
    event, begin = call.event, time.monotonic()
    while event.transcript_path:
        tasks = open_tasks(archive, session, event.agent_id, event.agent_type)
        if tasks or time.monotonic() - begin > _CALL_SECONDS:
            return "\n\n".join(tasks)
        time.sleep(_PAUSE)
        call.capture(archive)
    return ""
