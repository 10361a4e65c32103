"""The client's input, read by a hook that may leave the event to the whole hook: what was read is given back.

It loads next to nothing, so that most hooks end before the rest is loaded.
"""

from __future__ import annotations

from unified_state.lib.stdlib import SMALL_FILE, LateError, read_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SECONDS = 5.0

# What a quick hook may meet. The whole hook does the work then, or reports what is wrong.
NOT_FOR_QUICK_HOOKS = (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError, LateError)


def given_event(begin: bytearray) -> dict[str, Any] | None:
    """Return the client's input, or None if it is no object or has no end yet. `begin` gets what was read."""
    return read_object(begin, SMALL_FILE, _SECONDS)
