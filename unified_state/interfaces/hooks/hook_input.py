"""The hook's stdin: one JSON object that the client writes and then closes. Anything else gives an empty event."""

from __future__ import annotations

import os
import sys

from unified_state.lib.stdlib import parse_json
from unified_state.model.hook_event import HookEvent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CHUNK = 1 << 16
_PAUSE = 0.05  # seconds without anything new, after which the object may be whole though the caller left its end open
_TAIL = 100  # bytes in which the end of the object is looked for


def read_stdin(descriptor: int, seconds: float) -> bytes:
    """Everything up to the end of the file or of the JSON object, whichever comes first, or what came until nothing
    more did for so long.

    A caller that forgets to close its end must not make the hook hang; on a busy machine 50 MB take long to come.
    """
    received = bytearray()
    while _readable(descriptor, seconds):
        chunk = os.read(descriptor, _CHUNK)
        received += chunk
        if not chunk or (not _readable(descriptor, _PAUSE) and _complete(received)):
            break
    return bytes(received)


def parse_event(raw: bytes, event_name: str) -> tuple[HookEvent, str | None]:
    """The event and what was wrong with the input, if anything; `event_name` stands in for a missing name."""
    problem = None
    try:
        fields = parse_json(raw.decode("utf-8", "replace")) if raw.strip() else {}
    except (ValueError, RecursionError) as error:
        fields, problem = {}, f"the input of the {event_name} hook is not JSON: {error}"
    if not isinstance(fields, dict):
        fields, problem = {}, f"the input of the {event_name} hook is not an object"
    named: dict[str, Any] = {
        name: value for name, value in fields.items() if name in _TEXT_FIELDS and isinstance(value, str)
    }
    extra = {name: value for name, value in fields.items() if name not in _TEXT_FIELDS}
    return HookEvent(**{"hook_event_name": event_name, **named, "extra": extra}), problem


_TEXT_FIELDS = {"hook_event_name", "session_id", "transcript_path", "cwd", "agent_id", "agent_type"}


def _complete(received: bytearray) -> bool:
    if not received[-_TAIL:].rstrip().endswith(b"}"):
        return False
    try:
        parse_json(received.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return False
    return True


def _readable(descriptor: int, seconds: float) -> bool:
    if sys.platform == "win32":  # select knows only sockets there; the client closes its end
        return True
    import select  # not on every platform

    return bool(select.select([descriptor], [], [], seconds)[0])
