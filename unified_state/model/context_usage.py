"""The usage of a session's context window: measurements, the client's limit, and the phase derived from them."""

from __future__ import annotations

from unified_state.lib.record import Record

PHASES = OK, WARNING, OPTIMISE = "ok", "warning", "optimise"
# The source of the client's limit: the client reported it, it was observed, or it is the documented default.
FROM_CLIENT, FROM_COMPACTIONS, FROM_DEFAULT = "client", "compactions", "default"


class Reading(Record):
    """One measurement by the client or the API: tokens in the conversation, size of the window, time in
    milliseconds. `is_guess` where only our table of models tells the window.
    """

    tokens: int
    window: int
    at: int
    model: str = ""
    is_guess: bool = False


class Limit(Record):
    """The number of tokens at which the client compacts, and the source of that number."""

    tokens: int
    known_from: str


class UsageRecord(Record):
    """The last known usage of a session's context. `reached` is the highest phase since the compaction `cycle`."""

    tokens: int
    limit: Limit
    phase: str
    reached: str
    cycle: int
