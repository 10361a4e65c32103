"""One line of what `doctor` and `server check` print."""

from __future__ import annotations

from unified_state.lib.record import Record


class Check(Record):
    """The result of a check. `ok` is False for a problem, and `hint` is the remedy."""

    name: str
    ok: bool
    message: str
    hint: str = ""


def good(name: str, message: str) -> Check:
    """Return the result of a check that found no problem."""
    return Check(name, ok=True, message=message)


def bad(name: str, message: str, hint: str) -> Check:
    """Return the result of a check that found a problem."""
    return Check(name, ok=False, message=message, hint=hint)
