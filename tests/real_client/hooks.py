"""The hooks a scenario configures, and what those that are recorded have seen."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .messages import Json
from .transcript import read_entries

RECORDER = Path(__file__).with_name("hook_recorder.py")


@dataclass(frozen=True)
class HookCall:
    """One call of a recorded hook."""

    event: Json
    environment: dict[str, str]
    transcript_size: int
    parent_process: int
    started: float

    @property
    def name(self) -> str:
        """The event with what distinguishes it: `SessionStart:compact`, `PreCompact:auto`, `Stop`."""
        detail = self.event.get("source") or self.event.get("trigger") or self.event.get("reason")
        return ":".join(filter(None, (self.event["hook_event_name"], detail)))

    def entries_on_disk(self) -> list[Json]:
        """The transcript's entries as the hook found them."""
        transcript = Path(self.event["transcript_path"])
        return read_entries(transcript.read_bytes()[: self.transcript_size]) if self.transcript_size else []


class Hooks:
    """The `hooks` part of the settings; the calls of recorded ones go to the file `calls`."""

    def __init__(self, calls: Path) -> None:
        self.settings: dict[str, list[Json]] = {}
        self._calls = calls

    def add(self, event: str, handler: Json, matcher: str | None = None) -> None:
        """Configure one handler."""
        entry = {"hooks": [handler]} | ({} if matcher is None else {"matcher": matcher})
        self.settings.setdefault(event, []).append(entry)

    def record(self, *events: str, matcher: str | None = None, timeout: float = 10, **behaviour: Any) -> None:
        """Configure a handler for each event that is recorded and behaves as told (see hook_recorder.py)."""
        arguments = ["-I", "-S", str(RECORDER), str(self._calls), json.dumps(behaviour)]
        for event in events:
            self.add(
                event, {"type": "command", "command": sys.executable, "args": arguments, "timeout": timeout}, matcher
            )

    def calls(self, *events: str) -> list[HookCall]:
        """The recorded calls in the order they started, of all events or of those named."""
        if not self._calls.exists():
            return []
        calls = [HookCall(**json.loads(line)) for line in self._calls.read_text(encoding="utf-8").splitlines()]
        wanted = [call for call in calls if not events or call.event["hook_event_name"] in events]
        return sorted(wanted, key=lambda call: call.started)

    def wait_for(self, event: str, timeout: float = 10) -> HookCall:
        """The first recorded call of `event`, also of one the client does not wait for; at most `timeout` seconds."""
        deadline = time.monotonic() + timeout
        while not (calls := self.calls(event)):
            if time.monotonic() > deadline:
                message = f"{event} was not called; seen: {[call.name for call in self.calls()]}"
                raise TimeoutError(message)
            time.sleep(0.02)
        return calls[0]


def additional_context(event: str, text: str) -> str:
    """A hook's output that puts `text` into the conversation."""
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}})
