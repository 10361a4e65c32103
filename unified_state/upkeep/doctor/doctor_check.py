"""One check of `doctor`."""

from __future__ import annotations

from unified_state.lib.record import Record


class Check(Record):
    """What a check found: `ok` is False for what needs mending; `hint` says how."""

    name: str
    ok: bool
    message: str
    hint: str = ""
