"""SubagentStart: a subagent is given what fits its task. It has read nothing of the conversation, and knows of the
project what its parent wrote into its prompt.
"""

from __future__ import annotations

import time

from unified_state.records.restore import SUBAGENT, Known
from unified_state.services.hook_prompt import register
from unified_state.services.restore import fence_and_remember
from unified_state.services.task_slice import task_slice
from unified_state.sources.delegations import tasks_of
from unified_state.storage.compactions import last_given
from unified_state.storage.sessions import session_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.services.hook_call import HookCall
    from unified_state.storage.archive import Archive

_CALL_SECONDS, _PAUSE = 0.25, 0.01  # the client writes the call of the parent within about 100 ms


def on_subagent_start(call: HookCall, archive: Archive) -> str:
    """What the subagent is given. One that goes on is given it again only where it would be another text."""
    event, tokens = call.event, call.settings.subagent_tokens
    if not event.agent_id or event.agent_type == "" or not tokens:
        return ""
    call.capture(archive, call.settings.prompt_milliseconds / 1000)  # what the parent did in this turn
    session = session_number(archive, event.session_id)
    if session is None:
        session = register(call, archive)
    text = task_slice(archive, call.workspace.place, session, _task(call), tokens, call.now)
    part = f"{SUBAGENT} {event.agent_id}"
    if not text or text == last_given(archive, session, part):
        return ""
    return fence_and_remember(archive, session, Known(reason="subagent", now=call.now), part, text)


def _task(call: HookCall) -> str:
    """What the subagent is asked to do, as soon as the client has written it down."""
    event = call.event
    while True:
        tasks = tasks_of(event.transcript_path, event.agent_id, event.agent_type) if event.transcript_path else ()
        if tasks or time.monotonic() - call.started > _CALL_SECONDS:
            return "\n\n".join(tasks)
        time.sleep(_PAUSE)
