"""The hook for hosts other than Claude Code: `NAME EVENT [DATA_DIR]`.

The host is named in the installed command and never guessed. Its event is translated to ours, and the answer is written
in this host's format or not at all. A host that reads only JSON never receives anything else, and compactions are never
refused.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.archive.compactions import keep_boundary, latest_compaction, mark_delivered
from unified_state.archive.pending_messages import settle_messages
from unified_state.archive.sessions import session_number
from unified_state.errors import CompactionRefusedError
from unified_state.hosts.transcripts.rules.hosts import FLAT, FLAT_AND_NESTED, HOSTS, NESTED, SNAKE_CASE, Host
from unified_state.hosts.transcripts.transcript_readers import adapted
from unified_state.interfaces.hook import HookRun
from unified_state.interfaces.hooks.hook_call import HookCall
from unified_state.interfaces.tool_hook import limit_time, parse_event, warn
from unified_state.lib.fence import nonces_in
from unified_state.lib.json_text import dump_ascii_json
from unified_state.lib.text import utf16_units
from unified_state.model.hook_event import PARTS, HookEvent
from unified_state.model.step import PROMPT, Boundary
from unified_state.project.place import PROJECT_VARIABLE


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the hook `NAME EVENT [DATA_DIR]` of the process's arguments, and exit the process."""
    name, event, data_dir = [*(sys.argv[1:] if arguments is None else arguments), "", "", ""][:3]
    limit_time(HOSTS[name].events.get(event, event) if name in HOSTS else "")
    os._exit(run(name, event, data_dir))  # like the hook itself


def run(host_name: str, event_name: str, data_dir: str = "") -> int:
    """Handle one event, given by the host's name for it. Return the exit status, which is always 0."""
    host = HOSTS.get(host_name)
    if host is None:
        warn(f"unified-state: there is no host {host_name!r}")
        return 0
    return HostRun(host, event_name, data_dir).run()


class HostRun(HookRun):
    """One run of the hook for another host.

    It compensates for missing events: the start of a session gets one text instead of two, and a compaction ends
    without a hook or transcript entry.
    """

    def __init__(self, host: Host, event_name: str, data_dir: str) -> None:
        super().__init__(host.events.get(event_name, event_name), "", data_dir)
        self.name = f"{host.name}.{event_name}"  # separate traces for each host
        # A host that Claude Code started inherits the name of its project.
        self.environ = {name: value for name, value in self.environ.items() if name != PROJECT_VARIABLE}
        self.host, self.host_event = host, event_name
        self.listens = event_name in host.context_events

    def parse(self) -> HookEvent:
        """Return the event with our names."""
        event, self.problem = parse_event(self.read(), self.event_name)
        return adapted(event, self.host, self.event_name)

    def refuse(self, _error: CompactionRefusedError) -> str:
        """Do not refuse, because exit status 2 has another meaning in each host."""
        return ""

    def serve(self, call: HookCall, archive: Archive) -> str:
        """Return the part of the handler's output that this host's event accepts."""
        session_id, has_transcript = call.event.session_id, self.host.transcript is not None
        messages = call.event.extra.get("messages")
        if isinstance(messages, list) and session_id:
            call.capturer(archive).messages(messages, session_id)
        if self.event_name == "UserPromptSubmit" and not has_transcript and not self.host.says_compact:
            _end_compaction(call, archive)
        output = self._output(call, archive)
        if not has_transcript and session_id:
            settle_messages(archive, session_id, call.now, waits=False)
        if not self.listens:
            return ""
        if output and not has_transcript:  # no later entry reports its arrival
            with archive.transaction(durable=False):
                mark_delivered(archive, nonces_in(output), call.now)
        return output

    def _output(self, call: HookCall, archive: Archive) -> str:
        if self.event_name == "UserPromptSubmit" and not self.listens:
            call.capture(archive, postpones=True)  # a later event that accepts context gets the missing text
            call.keep(archive, PROMPT, call.event.text("prompt"))
            call.register(archive)
            return ""
        if self.event_name != "SessionStart":
            return super().serve(call, archive)
        output = ""
        for part in PARTS:  # the second only if there is room; otherwise with the next prompt
            call.part = part
            both = "\n".join(filter(None, (output, super().serve(call, archive))))
            output = both if utf16_units(both) <= self.host.characters else output
        return output

    def answer(self, output: str, _call: HookCall) -> str:
        """Return the context in the host's form."""
        nested = {"hookSpecificOutput": {"hookEventName": self.host_event, "additionalContext": output}}
        forms: dict[str, dict[str, Any]] = {
            NESTED: nested,
            FLAT: {"additionalContext": output},
            SNAKE_CASE: {"additional_context": output},
            FLAT_AND_NESTED: {"additionalContext": output, **nested},
        }
        return dump_ascii_json(forms[self.host.emitter])


def _end_compaction(call: HookCall, archive: Archive) -> None:
    """Close the session's open compaction, which is over because the session continues."""
    session = session_number(archive, call.event.session_id)
    latest = latest_compaction(archive, session) if session is not None else None
    if session is None or latest is None or latest.boundary_uuid is not None:
        return
    with archive.transaction(durable=False):
        boundary = Boundary(uuid=f"{call.event.session_id}/K{latest.id}", at=latest.started_at, trigger=latest.trigger)
        keep_boundary(archive, session, boundary)
