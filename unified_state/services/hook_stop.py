"""Stop and SubagentStop: archive the rest of the turn, and the last message, which the transcript may not hold yet.

The client writes its transcript in batches, about 100 ms late, so that at Stop the newest entries can be missing.
"""

from __future__ import annotations

from unified_state.records.step import TEXT
from unified_state.services.hook_compaction import on_summary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.services.hook_call import HookCall
    from unified_state.storage.archive import Archive

_STOP_SECONDS = 20.0


def on_stop(call: HookCall, archive: Archive) -> str:
    """Archive to the end of the turn, with the message that ended it."""
    call.capture(archive, _STOP_SECONDS)
    call.keep(archive, TEXT, call.event.text("last_assistant_message"))
    if call.settings.context_autopilot:
        from unified_state.services.context_autopilot import watch_context

        watch_context(call, archive)
    return ""


def on_subagent_stop(call: HookCall, archive: Archive) -> str:
    """Archive a subagent under its parent; an empty agent type is the compaction itself, with the summary."""
    if call.event.agent_type == "":
        return on_summary(call, archive)
    path = call.event.text("agent_transcript_path")
    if path and call.event.session_id:
        call.capturer(archive, _STOP_SECONDS).transcript(path, call.event.session_id, call.event.agent_id or "subagent")
    return ""
