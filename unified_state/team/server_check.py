"""One line of what `unified-state server check` prints."""

from __future__ import annotations

from unified_state.lib.record import Record


class ServerCheck(Record):
    """Whether one thing works, what was found, and what to do if it does not."""

    name: str
    ok: bool
    message: str
    hint: str = ""
