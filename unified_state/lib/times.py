"""Times: ISO 8601 in UTC, as the client writes it, milliseconds since 1970, and UUIDs that sort by age."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta

UNKNOWN_AGE = "at an unknown time"
CLOCK_AHEAD = 60_000  # milliseconds by which another clock, as a server's, may be ahead
CLOCK_SLACK = 2_000  # maximum milliseconds between the client's clock and that of a command it ran
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST, _LAST = -62_135_596_800_000, 253_402_300_799_999  # of the calendar's years: 1 to 9999


def to_milliseconds(text: object) -> int | None:
    """Return the milliseconds of a time such as `2026-11-21T23:07:27.377Z`, with or without an offset; None if it is
    invalid.
    """
    if not isinstance(text, str) or text[10:11] not in set("Tt "):
        return None
    try:
        moment = datetime.fromisoformat(text.upper())
    except ValueError:
        return None
    return (moment.replace(tzinfo=moment.tzinfo or UTC) - _EPOCH) // timedelta(milliseconds=1)


def to_text(milliseconds: int) -> str:
    """Return the time as ISO 8601 in UTC with milliseconds: `2026-11-21T23:07:27.377Z`."""
    moment = _EPOCH + timedelta(milliseconds=max(_FIRST, min(milliseconds, _LAST)))
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def is_past(at: int | None, now: int) -> bool:
    """Return whether a time is known: it is neither missing (None or 0) nor still to come, as of a clock that was
    ahead.
    """
    return at is not None and 0 < at <= now + CLOCK_AHEAD


def latest_time(now: int) -> str:
    """Return the latest time, as text, that is not still to come."""
    return to_text(now + CLOCK_AHEAD)


def age_text(now: int, at: int | None) -> str:
    """Return the age of a time for display: `just now`, `4 min ago`, `2 days ago`, or UNKNOWN_AGE."""
    if at is None or not is_past(at, now):
        return UNKNOWN_AGE
    minutes = (now - at) // 60_000
    if minutes < 1:
        return "just now"
    if minutes < 60:
        return f"{minutes} min ago"
    hours = minutes // 60
    if hours < 48:
        return f"{hours} h ago"
    return f"{hours // 24} days ago"


def current_time() -> int:
    """Return the milliseconds since 1970."""
    return int(time.time() * 1000)


def new_uuid(now: int) -> str:
    """Return a UUID of version 7 (RFC 9562): 48 bits of milliseconds, then random bits, so that UUIDs sort by age."""
    digits = (now.to_bytes(6, "big") + os.urandom(10)).hex()
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-7{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"
