"""What the client writes to its status line: one JSON object, whose shape is never trusted.

Before the first answer the figures are null, and directly after a compaction they are zero: that is no measurement.
"""

from __future__ import annotations

from unified_state.lib.record import Record
from unified_state.lib.stdlib import parse_json
from unified_state.model.context_usage import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_BYTES = 1 << 16  # the client writes about 2 KB
_PARTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_MOST_TOKENS = 100_000_000


class StatusInput(Record):
    """Whose status line it is, where, and how full the context is; what was missing is empty."""

    session_id: str = ""
    cwd: str = ""
    transcript_path: str = ""
    reading: Reading | None = None


def parse_status(raw: bytes, now: int) -> StatusInput:
    """What of the client's JSON can be used."""
    try:
        fields = parse_json(raw.decode("utf-8", "replace")) if len(raw) <= MOST_BYTES else None
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        return StatusInput()
    return StatusInput(
        _text(fields.get("session_id")),
        _text(fields.get("cwd")),
        _text(fields.get("transcript_path")),
        _reading(fields.get("context_window"), now),
    )


def _reading(window: Any, now: int) -> Reading | None:
    size = _count(window.get("context_window_size")) if isinstance(window, dict) else None
    if not size:
        return None
    usage, percent = window.get("current_usage"), _number(window.get("used_percentage"))
    parts = [_count(usage.get(name)) for name in _PARTS] if isinstance(usage, dict) else []
    known = [part for part in parts if part is not None]
    if known:
        return Reading(sum(known), size, now, percent)
    return None if percent is None else Reading(round(size * percent / 100), size, now, percent)


def _count(value: Any) -> int | None:
    """A number of tokens; half a token is none."""
    number = _number(value)
    return None if number is None else int(number)


def _number(value: Any) -> float | None:
    """A number that can be a count or a percentage; NaN and the infinities are read as null before."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and 0 <= value <= _MOST_TOKENS else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) and "\0" not in value else ""
