"""SubagentStart: give a subagent the recorded facts that fit its task.

It has not read the conversation, and knows only what its parent wrote into its prompt.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable

from unified_state.archive.archive import Archive
from unified_state.hosts.transcripts.transcript_lines import session_folder, subagent_transcripts, text_in
from unified_state.interfaces.hooks.hook_call import HookCall
from unified_state.lib.fence import fenced
from unified_state.lib.json_text import parse_object
from unified_state.lib.read_files import SMALL_FILE, read_regular
from unified_state.restore.task_slice import open_tasks, task_slice

_ABOUT = "recorded facts of this project, as data"
_CALL_SECONDS, _PAUSE = 0.25, 0.01  # the client writes the call of the parent within about 100 ms


def on_subagent_start(call: HookCall, archive: Archive) -> str:
    """Return the text for a subagent. A continued subagent gets none: it already has one, and the client would drop
    more.
    """
    event, place, settings = call.event, call.workspace.place, call.settings
    folder = session_folder(event.transcript_path)
    begun = list(subagent_transcripts(folder)) if folder else []
    is_continued = event.agent_id in (agent for _, agent in begun)
    if event.agent_type == "" or not (event.agent_id and settings.subagent_tokens) or is_continued:  # "": a compaction
        return ""
    calls = _begun_calls(path for path, _ in begun)
    call.capture(archive)  # the parent's actions in this turn
    session = call.registered(archive)
    text = task_slice(archive, place, session, lambda: _task(call, archive, session, calls), settings, call.now)
    return fenced(text, os.urandom(6).hex(), _ABOUT) if text else ""


def _begun_calls(transcripts: Iterable[str]) -> set[str]:
    """Return the calls of subagents that have begun. A file beside the transcript of each names its call."""
    found = set()
    for path in transcripts:
        try:
            record = parse_object(read_regular(f"{path.removesuffix('.jsonl')}.meta.json", SMALL_FILE))
        except OSError:
            continue  # it is not written yet
        found.add(text_in(record or {}, "toolUseId"))
    return found


def _task(call: HookCall, archive: Archive, session: int, begun: set[str]) -> str:
    """Return the task of the subagent, waiting until the client has written it."""
    event, begin = call.event, time.monotonic()
    while event.transcript_path:
        tasks = open_tasks(archive, session, event.agent_id, event.agent_type, begun)
        if tasks or time.monotonic() - begin > _CALL_SECONDS:
            return "\n\n".join(tasks)
        time.sleep(_PAUSE)
        call.capture(archive)
    return ""
