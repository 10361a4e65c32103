"""The hook as hosts other than Claude Code call it: `--host NAME EVENT [PART] [DATA_DIR]`.

The host is named in the installed command and never guessed. Its event becomes one of ours, and the answer is written
as this host wants it, or not at all: a host that reads only JSON is never given anything else, and none is refused a
compaction.
"""

from __future__ import annotations

import os
import sys

from unified_state.agents.transcripts.rules.hosts import FLAT, FLAT_AND_NESTED, HOSTS, NESTED, SNAKE_CASE
from unified_state.errors import CompactionRefusedError
from unified_state.interfaces.hook import Run, finish
from unified_state.interfaces.hooks.user_prompt_submit import register
from unified_state.lib.stdlib import dump_ascii_json
from unified_state.lib.text import nonces_in, utf16_units
from unified_state.memory.archive.compactions import keep_boundary, latest_compaction, mark_delivered
from unified_state.memory.archive.pending_messages import settle_messages
from unified_state.memory.archive.sessions import session_number
from unified_state.model.hook_event import PARTS
from unified_state.model.step import PROMPT, Boundary
from unified_state.settings import default_data_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from unified_state.agents.transcripts.rules.hosts import Host
    from unified_state.interfaces.hooks.hook_call import HookCall
    from unified_state.memory.archive.archive import Archive
    from unified_state.model.hook_event import HookEvent

    Handler = Callable[[HookCall, Archive], str]


_OPTION = "--host"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the hook `--host NAME EVENT [DATA_DIR]` of the process's arguments, and leave the process."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    name, event, data_dir = [*given[given.index(_OPTION) + 1 :], "", "", ""][:3] if _OPTION in given else ("", "", "")
    os._exit(run(name, event, data_dir))  # as the hook itself


def run(host_name: str, event_name: str, data_dir: str = "") -> int:
    """Handle one event of a host, by the host's own name for it; the exit status, which is always 0."""
    host = HOSTS.get(host_name)
    if host is None:
        print(f"unified-state: there is no host {host_name!r}", file=sys.stderr)  # noqa: T201
        return 0
    finish(HostRun(host, event_name, data_dir or default_data_dir()))
    return 0


class HostRun(Run):
    """One run of the hook for another host."""

    def __init__(self, host: Host, event_name: str, data_dir: str) -> None:
        super().__init__(host.events.get(event_name, event_name), "", data_dir)
        self.host, self.host_event = host, event_name

    def read_event(self) -> HookEvent:
        """The event by our names."""
        from unified_state.agents.transcripts.host_event import adapted

        return adapted(self.told_event(), self.host, self.event_name)

    def name(self) -> str:
        """The host's runs leave traces of their own."""
        return f"{self.host.name}.{self.host_event}"

    def let_client_go_on(self, event: HookEvent) -> None:
        """No other host knows a sign for it: it waits."""

    def answer(self, handler: Handler, call: HookCall, archive: Archive) -> str:
        """What may be said to this host."""
        try:
            return host_answer(self.host, self.host_event, handler, call, archive)
        except CompactionRefusedError:
            return ""  # exit status 2 means something else to each host

    def written(self, output: str, _call: HookCall) -> str:
        """The context in the host's form."""
        nested = {"hookSpecificOutput": {"hookEventName": self.host_event, "additionalContext": output}}
        forms: dict[str, dict[str, Any]] = {
            NESTED: nested,
            FLAT: {"additionalContext": output},
            SNAKE_CASE: {"additional_context": output},
            FLAT_AND_NESTED: {"additionalContext": output, **nested},
        }
        return dump_ascii_json(forms[self.host.emitter])


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
