"""The records of history that every store accepts and returns unchanged, so that history moves between tiers.

No field is local to one archive. Steps are identified by entry and block, items by UUID, compactions by their boundary,
sessions by the client's id. An archive has columns for the fields in `COLUMNS`, and stores all others as JSON.
"""

from __future__ import annotations

from typing import Any

from unified_state.lib.record import Record
from unified_state.model.item import LedgerItem
from unified_state.model.step import Step

STEP, ITEM, COMPACTION, SESSION = "step", "item", "compaction", "session"


class StoredSession(Record):
    """A session of a client. Times are in milliseconds since 1970."""

    session_id: str
    started_at: int | None = None
    seen_at: int | None = None
    ended_at: int | None = None
    end_reason: str | None = None
    worktree: str | None = None
    branch: str | None = None
    predecessor: str | None = None


class StoredStep(Step):
    """A step and its session. The first step of a session starts a turn.

    A step of several sessions (forks) is returned once for each, and its text is stored once. `masked_at` is the time
    when stored secrets were masked in it. Of two versions the one that was masked later is kept.
    """

    session_id: str  # type: ignore[misc]  # required, after fields with defaults: a record takes fields by name
    masked_at: int | None = None


class StoredItem(LedgerItem):
    """An item of the ledger, with `files` and `file_hashes` as there.

    `aliases` are its former aliases, from before it came to a store in which they were taken. `boundary_uuid` replaces
    `compaction`, which is a number of one archive.
    """

    aliases: tuple[str, ...] = ()
    boundary_uuid: str | None = None


class StoredLink(Record):
    """A relation between two items, by UUID: one supersedes, duplicates or changes the other."""

    from_uuid: str
    to_uuid: str
    relation: str
    at: str


class StoredCompaction(Record):
    """A compaction and the client's summary of the removed part. `masked_at` is as in a step."""

    session_id: str
    boundary_uuid: str
    at: int
    trigger: str | None = None
    pre_tokens: int | None = None
    summary: str | None = None
    masked_at: int | None = None


class Tombstone(Record):
    """A record that the user forgot, which stores delete for good.

    `key` is `UUID/BLOCK` of a step, the UUID of an item, the boundary of a compaction, or the id of a session. A
    session's tombstone deletes its content up to `at`.
    """

    what: str
    key: str
    at: int


HistoryRecord = StoredSession | StoredStep | StoredItem | StoredLink | StoredCompaction | Tombstone
RECORD_KINDS: dict[str, type[HistoryRecord]] = {
    SESSION: StoredSession,
    STEP: StoredStep,
    ITEM: StoredItem,
    "link": StoredLink,
    COMPACTION: StoredCompaction,
    "tombstone": Tombstone,
}


COLUMNS: dict[type[HistoryRecord], tuple[str, ...]] = {
    StoredSession: StoredSession.names,
    StoredStep: (*Step.names, "session_id"),
    StoredItem: (*LedgerItem.names, "aliases"),
    StoredCompaction: tuple(name for name in StoredCompaction.names if name != "masked_at"),
}


def telling_fields(record: HistoryRecord) -> dict[str, Any]:
    """Return the required fields of a record and those that differ from their defaults, by their Python names."""
    kind = type(record)
    return {
        name: value for name, value in record.as_dict().items() if name in kind.required or value != getattr(kind, name)
    }


def is_masked_later(told: StoredStep | StoredCompaction, known_at: int | None) -> bool:
    """Return whether `told` was masked later than the stored version, whose time of masking is `known_at` or None."""
    return told.masked_at is not None and (known_at is None or told.masked_at > known_at)
