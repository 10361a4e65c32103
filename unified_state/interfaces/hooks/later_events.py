"""Events that a hook keeps for later, because its Python has no SQLite: a message that the transcript may never hold,
and where the transcript lies. Whoever opens the history next with a Python that has it does the rest.
"""

from __future__ import annotations

from unified_state.lib.stdlib import NO_SQLITE
from unified_state.memory.journal.journal import EVENTS, Journal
from unified_state.memory.journal.journal_places import writable_journal
from unified_state.memory.secrets.rules.private_tags import hide_private
from unified_state.model.known import BRIEF
from unified_state.model.step import PROMPT, TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.interfaces.hooks.hook_call import HookCall

_LOCK_SECONDS = 4.0
_MESSAGES = {"prompt": PROMPT, "last_assistant_message": TEXT}  # an event has one of them
_TOLD = f"[HEALTH] {NO_SQLITE}: turns are only noted, and archived later; `unified-state install` looks for another one"


def keep_for_later(call: HookCall) -> str:
    """Keep the event durably; what the client is told."""
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
        "text": call.workspace.masker.text(hide_private(event.text(name))) if name and event.agent_type != "" else "",
    }
    with Journal(writable_journal(call.workspace.place), _LOCK_SECONDS, EVENTS) as journal:
        journal.append([told], durable=True)
    return _TOLD if event.hook_event_name == "SessionStart" and call.part in ("", BRIEF) else ""
