"""How full a session's context window is: what was measured, where the client compacts, and the phase that follows."""

from __future__ import annotations

from unified_state.lib.record import Record

PHASES = OK, WARNING, OPTIMISE = "ok", "warning", "optimise"
# How it is known where the client compacts: it says so, it was seen to, or its documentation says so.
FROM_CLIENT, FROM_COMPACTIONS, FROM_DEFAULT = "client", "compactions", "default"


class Reading(Record):
    """One measurement by the client or the API: tokens in the conversation, the window's size, when (milliseconds)."""

    tokens: int
    window: int
    at: int
    percent: float | None = None  # as the client gave it


class Limit(Record):
    """At how many tokens the client compacts, and how that is known."""

    tokens: int
    known_from: str


class Point(Record):
    """One point of a session's history: how large the conversation was after a turn."""

    at: int
    turn: int
    tokens: int


class Trend(Record):
    """The growth of the conversation, and the turns and minutes left to the limit; None where unknown."""

    tokens_per_turn: int | None = None
    turns_left: int | None = None
    minutes_left: int | None = None


class Watched(Record):
    """What was last found out of a session's context: `reached` is the highest phase since the compaction `cycle`."""

    window: int
    limit: Limit
    phase: str
    reached: str
    cycle: int
    stale: int
