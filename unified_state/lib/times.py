"""Times: ISO 8601 in UTC, as the client writes it, milliseconds since 1970, and UUIDs that sort by age.

`datetime` is not used, because it would cost the prompt path a millisecond for a few divisions. The calendar arithmetic
is Howard Hinnant's `days_from_civil` and `civil_from_days` (https://howardhinnant.github.io/date_algorithms.html).
"""

from __future__ import annotations

import os
import time

UNKNOWN_AGE = "at an unknown time"
CLOCK_AHEAD = 60_000  # milliseconds by which another clock, as a server's, may be ahead
CLOCK_SLACK = 2_000  # maximum milliseconds between the client's clock and that of a command it ran
_DAYS_BEFORE_1970 = 719_468  # from 0000-03-01, the start of Hinnant's years
_DAYS_PER_ERA = 146_097  # 400 years
_MS_PER_DAY = 86_400_000


def to_milliseconds(text: object) -> int | None:
    """Return the milliseconds of a time such as `2026-11-21T23:07:27.377Z`, with or without an offset; None if it is
    invalid.
    """
    if not isinstance(text, str) or len(text) < len("2026-11-21T23:07:27") or text[10] not in "Tt ":
        return None
    fields = (text[0:4], text[5:7], text[8:10], text[11:13], text[14:16], text[17:19])
    if not "".join(fields).isdecimal():  # int() would accept a sign or a space too
        return None
    year, month, day, hour, minute, second = map(int, fields)
    if not (1 <= month <= 12 and 1 <= day <= 31 and hour <= 24 and minute < 60 and second <= 60):
        return None
    days = _days(year, month, day)
    if day > 28 and _date(days) != (year, month, day):  # the 30th of February would be the 2nd of March
        return None
    try:
        fraction, offset_minutes = _fraction_and_offset(text[19:])
    except ValueError:
        return None
    return ((days * 24 + hour) * 3600 + (minute - offset_minutes) * 60 + second) * 1000 + fraction


def to_text(milliseconds: int) -> str:
    """Return the time as ISO 8601 in UTC with milliseconds: `2026-11-21T23:07:27.377Z`."""
    days, rest = divmod(milliseconds, _MS_PER_DAY)
    year, month, day = _date(days)
    seconds, fraction = divmod(rest, 1000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:03}Z"


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


def _fraction_and_offset(rest: str) -> tuple[int, int]:
    """Return the milliseconds and the offset from UTC in minutes after the seconds: `.377Z`, `+02:00`, or nothing."""
    fraction = 0
    if rest[:1] in {".", ","}:
        digits = rest[1:].rstrip("Zz").split("+")[0].split("-")[0]
        fraction = int((digits + "000")[:3])
        rest = rest[1 + len(digits) :]
    if rest in {"", "Z", "z"}:
        return fraction, 0
    sign = {"+": 1, "-": -1}.get(rest[0])
    if sign is None:
        message = f"no offset from UTC: {rest!r}"
        raise ValueError(message)
    digits = rest[1:].replace(":", "")
    return fraction, sign * (int(digits[:2]) * 60 + int(digits[2:4] or 0))


def _days(year: int, month: int, day: int) -> int:
    year -= month <= 2  # Hinnant's years start in March
    era, year_of_era = divmod(year, 400)
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    day_of_era = year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year
    return era * _DAYS_PER_ERA + day_of_era - _DAYS_BEFORE_1970


def _date(days: int) -> tuple[int, int, int]:
    era, day_of_era = divmod(days + _DAYS_BEFORE_1970, _DAYS_PER_ERA)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return year_of_era + era * 400 + (month <= 2), month, day_of_year - (153 * shifted + 2) // 5 + 1


def current_time() -> int:
    """Return the milliseconds since 1970."""
    return int(time.time() * 1000)


def new_uuid(now: int) -> str:
    """Return a UUID of version 7 (RFC 9562): 48 bits of milliseconds, then random bits, so that UUIDs sort by age."""
    digits = (now.to_bytes(6, "big") + os.urandom(10)).hex()
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-7{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"
