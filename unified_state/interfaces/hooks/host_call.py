"""A hook's call by another host, served by the handlers that serve Claude Code.

Where a host tells less, this fills in: one text at the start of a session instead of two, and a compaction that neither
its hooks nor a transcript end.
"""

from __future__ import annotations

from unified_state.interfaces.hooks.user_prompt_submit import register
from unified_state.lib.text.fence import nonces_in
from unified_state.lib.text.truncate import utf16_units
from unified_state.memory.archive.compactions import keep_boundary, latest_compaction, mark_delivered
from unified_state.memory.archive.pending_messages import settle_messages
from unified_state.memory.archive.sessions import session_number
from unified_state.model.known import PARTS
from unified_state.model.step import PROMPT, Boundary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from unified_state.interfaces.hooks.hook_call import HookCall
    from unified_state.memory.archive.archive import Archive
    from unified_state.model.host import Host

    Handler = Callable[[HookCall, Archive], str]


def host_answer(host: Host, host_event: str, handler: Handler, call: HookCall, archive: Archive) -> str:
    """What the handler gives, as much of it as one output of this host may have; nothing where it may say nothing."""
    event_name, listens = call.event.hook_event_name, host_event in host.context_events
    messages = call.event.extra.get("messages")
    if isinstance(messages, list) and call.event.session_id:
        _capture_messages(call, archive, messages)
    if event_name == "UserPromptSubmit":
        if host.transcript is None and not host.says_compact:
            _end_compaction(call, archive)
        if not listens:  # what is lost is given back with an event that may say so
            handler = _keep_prompt
    output = _whole_start(host, handler, call, archive) if event_name == "SessionStart" else handler(call, archive)
    if host.transcript is None and call.event.session_id:
        settle_messages(archive, call.event.session_id, call.now, waits=False)
    if not listens:
        return ""
    if output and host.transcript is None:  # nothing will ever tell that it arrived
        with archive.transaction(durable=False):
            mark_delivered(archive, nonces_in(output), call.now)
    return output


def _capture_messages(call: HookCall, archive: Archive, messages: list[Any]) -> None:
    from unified_state.capture.host_messages import MessageCapture  # only where a host has no transcript to read

    capture = MessageCapture(archive, call.workspace.masker, call.now, lambda: True, head=call.workspace.head)
    capture.messages(messages, call.event.session_id)


def _whole_start(host: Host, handler: Handler, call: HookCall, archive: Archive) -> str:
    """Both texts of a session's start in one; the second only where there is room, else the next prompt has it."""
    output = ""
    for part in PARTS:
        call.part = part
        text = handler(call, archive)
        both = f"{output}\n{text}" if output and text else output or text
        output = both if utf16_units(both) <= host.characters else output
    return output


def _keep_prompt(call: HookCall, archive: Archive) -> str:
    call.capture(archive, call.settings.prompt_milliseconds / 1000, postpones=True)
    call.keep(archive, PROMPT, call.event.text("prompt"))
    register(call, archive)
    return ""


def _end_compaction(call: HookCall, archive: Archive) -> None:
    """The session goes on: a compaction that began is over."""
    session = session_number(archive, call.event.session_id)
    latest = latest_compaction(archive, session) if session is not None else None
    if session is None or latest is None or latest.boundary_uuid is not None:
        return
    with archive.transaction(durable=False):
        boundary = Boundary(uuid=f"{call.event.session_id}/K{latest.id}", at=latest.started_at, trigger=latest.trigger)
        keep_boundary(archive, session, boundary)
