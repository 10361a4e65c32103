"""Values of other programs converted to our types. No function here raises, whatever its input."""

from __future__ import annotations

from typing import Any

from unified_state.lib.json_text import parse_json

_SECONDS_BELOW = 100_000_000_000  # a smaller number is in seconds: in milliseconds it would be before March 1973
_LATEST = 253_402_300_799_999  # the end of the year 9999, the limit of calendars


def clean_text(value: object) -> str:
    """Return the value, well-formed, if it is a text; else ""."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def time_of(value: object) -> int:
    """Return the milliseconds since 1970 of a time in seconds or milliseconds; 0 for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= _LATEST:
        return 0
    return int(value * 1000 if value < _SECONDS_BELOW else value)


def json_of(value: object, default: Any) -> Any:
    """Return the value of a JSON text if it has the default's type, else the default."""
    try:
        parsed = parse_json(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return default
    return parsed if isinstance(parsed, type(default)) else default


def texts_of(value: object) -> list[str]:
    """Return the texts of a list, given as JSON or as a list."""
    return [clean_text(entry) for entry in json_of(value, []) if isinstance(entry, str) and entry.strip()]


DEEPEST = 100
_CONTAINERS = (dict, list, tuple)


def is_too_deep(value: object) -> bool:
    """Return whether a JSON value is nested deeper than `DEEPEST`.

    Copying, masking and writing recurse into a value, and Python limits recursion.
    """
    level: list[Any] = [value] if isinstance(value, _CONTAINERS) else []
    for _ in range(DEEPEST):
        if not level:
            return False
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, _CONTAINERS)
        ]
    return True
