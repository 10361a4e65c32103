"""What a transcript tells of the conversation's size: the usage that the API reported with each message.

The file is read from its end, and only as far as a message that is known already or a compaction: what stands before
one says nothing of the conversation after it.
"""

from __future__ import annotations

import os

from unified_state.agents.transcripts.transcript_lines import parse_entries, time_of, usage_of
from unified_state.context.window.rules.context_phase import window_of
from unified_state.model.context_usage import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_PIECE = 1 << 18
_MOST = 1 << 24  # bytes that are looked through
_USAGE, _BOUNDARY = b'"usage"', b'"compact_boundary"'
_SYNTHETIC = "<synthetic>"  # the model of messages that the client wrote itself


def usages(path: str, since: int) -> Iterator[Reading]:
    """The usages of the main conversation later than a time, as far as it was not compacted; the newest first."""
    try:
        for line in _lines_from_the_end(path):
            if _BOUNDARY in line and any(entry.get("subtype") == "compact_boundary" for entry in parse_entries(line)):
                return
            reading = _reading(line) if _USAGE in line else None
            if reading is not None and reading.at <= since:
                return
            if reading is not None:
                yield reading
    except OSError:
        return


def _reading(line: bytes) -> Reading | None:
    for entry in parse_entries(line):
        if entry.get("type") != "assistant" or entry.get("isApiErrorMessage"):
            continue
        usage, model = usage_of(entry), entry.get("message", {}).get("model")
        if usage is not None and usage.context_tokens > 0 and model != _SYNTHETIC:
            model = model if isinstance(model, str) else ""
            window = window_of(model, usage.context_tokens)
            return Reading(usage.context_tokens, window, time_of(entry))
    return None


def _lines_from_the_end(path: str) -> Iterator[bytes]:
    with open(path, "rb", buffering=0) as file:
        position = file.seek(0, os.SEEK_END)
        least = max(0, position - _MOST)
        rest = b""
        while position > least:
            size = min(_PIECE, position - least)
            position -= size
            file.seek(position)
            first, *lines = (file.read(size) + rest).split(b"\n")
            yield from reversed(lines)
            rest = first
        yield rest
