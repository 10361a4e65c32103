"""One event of an SDK agent, handled as the command of the same event handles it, and what it is answered.

Invariant: whatever happens, who waits for the answer gets one.
"""

from __future__ import annotations

import threading

from unified_state.agents.install.hook_table import OUTPUT_EVENT
from unified_state.errors import CompactionRefusedError
from unified_state.interfaces.hook import Run, finish
from unified_state.interfaces.hook_tool_output import shortened
from unified_state.interfaces.hook_tool_use import check
from unified_state.interfaces.tool_hook import parse_event
from unified_state.lib.stdlib import dump_ascii_json, parse_json
from unified_state.model.constraint import TOOL_EVENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from unified_state.interfaces.hook import Handler
    from unified_state.interfaces.hooks.hook_call import HookCall
    from unified_state.memory.archive.archive import Archive
    from unified_state.model.hook_event import HookEvent

    Fields = Mapping[str, Any]


class Call:
    """One event that the client waits for, and what it is answered."""

    def __init__(self, fields: Fields, environ: Mapping[str, str]) -> None:
        self._fields = fields
        self.environ = environ
        self.answered = threading.Event()
        self.output: dict[str, Any] = {}

    def run(self, event: str, part: str, data_dir: str) -> None:
        """Handle the event; whatever happens, who waits is answered."""
        try:
            if event == TOOL_EVENT:
                self.tell(check(lambda: self.event(event), data_dir, self.environ))
            elif event == OUTPUT_EVENT:
                self.tell(shortened(self._as_json, part, data_dir, self.environ))
            else:
                finish(_CallRun(event, part, data_dir, self))
        finally:
            self.answered.set()

    def event(self, name: str) -> tuple[HookEvent, str | None]:
        """The event, read as if it stood on stdin, and what is wrong with it."""
        return parse_event(self._as_json(), name)

    def _as_json(self) -> bytes:
        return dump_ascii_json(dict(self._fields)).encode()

    def tell(self, answer: str) -> None:
        """Keep the answer. To plain text, which only PreCompact gives, the client listens as a message."""
        if answer:
            self.output = parse_json(answer) if answer.startswith("{") else {"systemMessage": answer}


class _CallRun(Run):
    """One run of the hook in this process."""

    def __init__(self, event_name: str, part: str, data_dir: str, call: Call) -> None:
        super().__init__(event_name, part, data_dir)
        self._sdk_call = call

    def told_event(self) -> HookEvent:
        event, self.problem = self._sdk_call.event(self.event_name)
        return event

    def environ(self) -> Mapping[str, str]:
        return self._sdk_call.environ

    def answer(self, handler: Handler, call: HookCall, archive: Archive) -> str:
        try:
            return super().answer(handler, call, archive)
        except CompactionRefusedError as error:
            return dump_ascii_json({"decision": "block", "reason": str(error)})

    def tell(self, answer: str) -> None:
        self._sdk_call.tell(answer)

    def let_client_go_on(self, _event: HookEvent) -> None:
        self._sdk_call.answered.set()
