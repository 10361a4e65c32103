"""Whether what an item says still fits the files, the branch and the conversation as they are now."""

from __future__ import annotations

from unified_state.lib.record import Record


class Validity(Record):
    """How an item stands now. `changed` and `gone` are files it speaks of, `branch` is the other branch it was recorded
    on. It is `behind` where HEAD went back behind its commit, `rewound` where the user took back the part of the
    conversation that it came from.
    """

    changed: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    branch: str | None = None
    superseded_by: str | None = None
    contradicts: tuple[str, ...] = ()
    behind: bool = False
    rewound: bool = False


VALID = Validity()
