"""Keep an event for an archive that cannot be used now. A session start gives what the state file has meanwhile."""

from __future__ import annotations

import os

from unified_state.errors import UnifiedStateError
from unified_state.interfaces.hooks.hook_call import HookCall
from unified_state.model.hook_event import BRIEF
from unified_state.model.step import PROMPT, TEXT
from unified_state.project.workspace.waiting_events import keep_waiting
from unified_state.restore.compose_restore import gather, restored_text, with_enforcement
from unified_state.restore.fenced_text import fence
from unified_state.state_file.adopt import archive_of_file

_MESSAGES = {"prompt": PROMPT, "last_assistant_message": TEXT}  # an event has one of them


def keep_event(call: HookCall, error: UnifiedStateError) -> str:
    """Keep what the hook was told, and return the text for the client. Raises the given error if that is impossible."""
    event = call.event
    if not event.session_id or event.agent_id:
        return ""
    name = next(filter(event.text, _MESSAGES), "")
    told = {
        "session": event.session_id,
        "transcript": event.transcript_path or "",
        "worktree": call.workspace.place.repository.worktree,
        "pid": call.pid,
        "at": call.now,
        "kind": _MESSAGES.get(name, ""),
        "text": call.workspace.masker.typed(event.text(name)) if name and event.agent_type != "" else "",
    }
    path = keep_waiting(call.workspace.place, told)
    if event.hook_event_name == "SessionStart" and call.part in ("", BRIEF):
        kept = f"all is kept in {path}" if path else "nothing can be kept"
        return _brief(call, call.workspace.mask(f"{kept} until the archive can be used; now {error.message}"))
    if path is None:
        raise error
    return ""


def _brief(call: HookCall, health: str) -> str:
    """Return the restore that the state file alone allows."""
    place = call.workspace.place
    with archive_of_file(place, call.now) as archive:
        known = gather(archive, place, None, "compact", call.now).replace(health=health)
    text = restored_text(with_enforcement(known, is_enforced=call.is_enforced), call.settings).brief
    return fence(BRIEF, os.urandom(6).hex(), text)
