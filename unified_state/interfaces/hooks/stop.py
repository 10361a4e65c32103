"""Stop and SubagentStop: archive the rest of the turn, and the last message, which the transcript may not hold yet.

The client writes its transcript in batches, about 100 ms late, so that at Stop the newest entries can be missing. Only
the last message can be lost with the client; once it is kept, the user need not wait for the rest: the next hook does
what is left where the client ends first.
"""

from __future__ import annotations

from unified_state.interfaces.hooks.pre_compact import on_summary
from unified_state.model.step import TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.interfaces.hooks.hook_call import HookCall
    from unified_state.memory.archive.archive import Archive

_STOP_SECONDS = 20.0


def on_stop(call: HookCall, archive: Archive) -> str:
    """Keep the message that ended the turn, and behind the user's back archive to the turn's end."""
    call.keep(archive, TEXT, call.event.text("last_assistant_message"))
    if call.settings.postgres_enabled and call.settings.sync_in_background:
        from unified_state.team.start_sync import start_sync

        start_sync(call, archive)  # a client that ends right behind the answer would end this hook before it
    call.let_client_go_on()
    call.capture(archive, _STOP_SECONDS)
    if call.settings.context_autopilot:
        from unified_state.interfaces.hooks.context_autopilot import watch_context

        watch_context(call, archive)
    return ""


def on_subagent_stop(call: HookCall, archive: Archive) -> str:
    """Archive a subagent under its parent; an empty agent type is the compaction itself, with the summary."""
    if call.event.agent_type == "":
        return on_summary(call, archive)
    call.let_client_go_on()  # all of it stands in the transcript, or will
    path = call.event.text("agent_transcript_path")
    if path and call.event.session_id:
        call.capturer(archive, _STOP_SECONDS).transcript(path, call.event.session_id, call.event.agent_id or "subagent")
    return ""
