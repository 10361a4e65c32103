"""What a search finds."""

from __future__ import annotations

from unified_state.lib.record import Record


class Hit(Record):
    """One thing found. `uuids` are the transcript entries it covers, `score` is higher for better ones, `coverage` is
    how much of the query stands there and beside it, between 0 and 1; `status` is that of an item.
    """

    ref: str
    kind: str
    uuids: tuple[str, ...]
    session_id: str | None
    timestamp: str
    score: float
    snippet: str
    status: str | None = None
    coverage: float = 1.0
