"""What of the state a compaction's summary kept."""

from __future__ import annotations

from unified_state.lib.record import Record

KEPT, MISSING, DISTORTED = "kept", "missing", "distorted"
BARE = "bare"  # kept without its reason
STALE = "stale"  # of a superseded item: the summary tells it as if it still held


class Judged(Record):
    """One item beside a summary: the verdict, and where in the summary it is spoken of (`begin` to `end`)."""

    ref: str
    verdict: str
    begin: int = 0
    end: int = 0


class Named(Record):
    """How many entries of one kind the working set has, and how many of them a summary names."""

    kind: str
    total: int
    named: int


class Survival(Record):
    """What one summary kept of the items and of the working set."""

    items: tuple[Judged, ...] = ()
    working_set: tuple[Named, ...] = ()

    def refs(self, *verdicts: str) -> tuple[str, ...]:
        """The items with one of these verdicts, in their order."""
        return tuple(judged.ref for judged in self.items if judged.verdict in verdicts)
