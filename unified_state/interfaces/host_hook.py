"""The hook as hosts other than Claude Code call it: `--host NAME EVENT [PART] [DATA_DIR]`.

The host is named in the installed command and never guessed. Its event becomes one of ours, and the answer is written
as this host wants it, or not at all: a host that reads only JSON is never given anything else, and none is refused a
compaction.
"""

from __future__ import annotations

import os
import sys

from unified_state.agents.transcripts.rules.hosts import FLAT, FLAT_AND_NESTED, HOSTS, NESTED, SNAKE_CASE
from unified_state.agents.transcripts.transcript_readers import adapted
from unified_state.interfaces.hook import HookRun
from unified_state.interfaces.tool_hook import parse_event
from unified_state.lib.stdlib import dump_ascii_json
from unified_state.lib.text import nonces_in, utf16_units
from unified_state.memory.archive.compactions import keep_boundary, latest_compaction, mark_delivered
from unified_state.memory.archive.pending_messages import settle_messages
from unified_state.memory.archive.sessions import session_number
from unified_state.model.hook_event import PARTS
from unified_state.model.step import PROMPT, Boundary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from unified_state.agents.transcripts.rules.hosts import Host
    from unified_state.errors import CompactionRefusedError
    from unified_state.interfaces.hooks.hook_call import HookCall
    from unified_state.memory.archive.archive import Archive
    from unified_state.model.hook_event import HookEvent


_OPTION = "--host"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the hook `--host NAME EVENT [DATA_DIR]` of the process's arguments, and leave the process."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    name, event, data_dir = [*given[given.index(_OPTION) + 1 :], "", "", ""][:3] if _OPTION in given else ("", "", "")
    os._exit(run(name, event, data_dir))  # as the hook itself


def run(host_name: str, event_name: str, data_dir: str = "") -> int:
    """Handle one event of a host, by the host's own name for it; return the exit status, which is always 0."""
    host = HOSTS.get(host_name)
    if host is None:
        print(f"unified-state: there is no host {host_name!r}", file=sys.stderr)  # noqa: T201
        return 0
    return HostRun(host, event_name, data_dir).run()


class HostRun(HookRun):
    """One run of the hook for another host.

    Where a host tells less than Claude Code this fills in: one text at the start of a session instead of two, and the
    end of a compaction that no hook and no transcript reports.
    """

    def __init__(self, host: Host, event_name: str, data_dir: str) -> None:
        super().__init__(host.events.get(event_name, event_name), "", data_dir)
        self.name = f"{host.name}.{event_name}"  # each host's runs leave traces of their own
        self.host, self.host_event = host, event_name
        self.listens = event_name in host.context_events

    def parse(self) -> HookEvent:
        """Return the event with our names."""
        event, self.problem = parse_event(self.read(), self.event_name)
        return adapted(event, self.host, self.event_name)

    def let_client_go_on(self, event: HookEvent) -> None:
        """Do nothing: no other host knows a sign for it."""

    def refuse(self, _error: CompactionRefusedError) -> str:
        """Refuse nothing: exit status 2 means something else to each host."""
        return ""

    def serve(self, call: HookCall, archive: Archive) -> str:
        """Return as much of the handler's output as this host's event takes."""
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
        if output and not has_transcript:  # nothing will ever report that it arrived
            with archive.transaction(durable=False):
                mark_delivered(archive, nonces_in(output), call.now)
        return output

    def _output(self, call: HookCall, archive: Archive) -> str:
        if self.event_name == "UserPromptSubmit" and not self.listens:
            call.capture(archive, postpones=True)  # a later event, which takes context, is given what this one misses
            call.keep(archive, PROMPT, call.event.text("prompt"))
            call.register(archive)
            return ""
        if self.event_name != "SessionStart":
            return super().serve(call, archive)
        output = ""
        for part in PARTS:  # the second only where there is room; else the next prompt is given it
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
    """Close the session's open compaction: the session goes on, so it is over."""
    session = session_number(archive, call.event.session_id)
    latest = latest_compaction(archive, session) if session is not None else None
    if session is None or latest is None or latest.boundary_uuid is not None:
        return
    with archive.transaction(durable=False):
        boundary = Boundary(uuid=f"{call.event.session_id}/K{latest.id}", at=latest.started_at, trigger=latest.trigger)
        keep_boundary(archive, session, boundary)
