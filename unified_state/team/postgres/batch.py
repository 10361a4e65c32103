"""The records of one append, by kind."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.model.history_records import (
        StoredCompaction,
        StoredItem,
        StoredLink,
        StoredSession,
        StoredStep,
        Tombstone,
    )


class Batch:
    """What one append brings; the steps are on their way to the server while it is read."""

    def __init__(self) -> None:
        self.sessions: list[StoredSession] = []
        self.items: list[StoredItem] = []
        self.links: list[StoredLink] = []
        self.compactions: list[StoredCompaction] = []
        self.tombstones: list[Tombstone] = []
        self.steps: list[tuple[str, str, int]] = []  # session, key and time, by ordinal
        self.masked: list[StoredStep] = []  # those of the steps that were masked later on

    def session_ids(self) -> set[str]:
        """All sessions that a record names."""
        told = {session.session_id for session in self.sessions}
        return told | {step[0] for step in self.steps} | {compaction.session_id for compaction in self.compactions}
