"""The records of history that every store takes, keeps and returns unchanged, so that history moves between tiers.

Nothing in it is local to one archive: steps are known by their entry and block, items by their UUID, compactions by
their boundary, sessions by the client's id. `unknown` holds the fields of a newer version, or of another system, and
comes back as it was given.
"""

from __future__ import annotations

from unified_state.lib.record import Record
from unified_state.lib.times import to_milliseconds, to_text
from unified_state.model.item import LedgerItem
from unified_state.model.step import Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


STEP, ITEM, COMPACTION, SESSION = "step", "item", "compaction", "session"


class StoredSession(Record):
    """A session of a client; times are in milliseconds since 1970."""

    session_id: str
    started_at: int | None = None
    seen_at: int | None = None
    ended_at: int | None = None
    end_reason: str | None = None
    worktree: str | None = None
    branch: str | None = None
    predecessor: str | None = None
    unknown: dict[str, Any] = {}


class StoredStep(Step):
    """A step and the session that holds it. The first step of a session starts a turn. A step of several sessions
    (forks) comes once for each; its text is stored once. `masked_at` is when secrets that had been stored were masked
    in it: of two versions the one that was masked later stays.
    """

    session_id: str  # type: ignore[misc]  # required behind fields with defaults: a record takes it by its name
    unknown: dict[str, Any] = {}
    masked_at: int | None = None


class StoredItem(LedgerItem):
    """An item of the ledger; `files` and `file_hashes` as there. `aliases` are names it had elsewhere, before it came
    to a store where they were taken. `boundary_uuid` stands for `compaction`, which is a number of one archive.
    """

    aliases: tuple[str, ...] = ()
    boundary_uuid: str | None = None
    unknown: dict[str, Any] = {}


class StoredLink(Record):
    """One item supersedes, duplicates, contradicts … another; both by UUID."""

    from_uuid: str
    to_uuid: str
    relation: str
    at: str


class StoredCompaction(Record):
    """A compaction and the client's summary of the part that it removed; `masked_at` as of a step."""

    session_id: str
    boundary_uuid: str
    at: int
    trigger: str | None = None
    pre_tokens: int | None = None
    summary: str | None = None
    summary_from: str | None = None
    unknown: dict[str, Any] = {}
    masked_at: int | None = None


class Tombstone(Record):
    """A record that the user forgot: the store removes it for ever. `key` is `UUID/BLOCK` of a step, the
    UUID of an item, the boundary of a compaction, or the id of a session, of which all goes that was said up to `at`.
    """

    what: str
    key: str
    at: int


HistoryRecord = StoredSession | StoredStep | StoredItem | StoredLink | StoredCompaction | Tombstone


class HistoryQuery(Record):
    """A search: any text, never read as operators. `since` and before `until` are in milliseconds; `vector`
    is the query's embedding by `model`, for a store that has vectors.
    """

    text: str
    limit: int = 10
    session_id: str | None = None
    kind: str | None = None
    tool: str | None = None
    since: int | None = None
    until: int | None = None
    vector: Sequence[float] | None = None
    model: str | None = None


class HistoryHit(Record):
    """A step that was found; scores compare within one answer only. `said_by` is the member whose it is, where a store
    knows members.
    """

    step: StoredStep
    score: float
    said_by: str | None = None


class Counts(Record):
    """The numbers of records that a store holds of one project, without forgotten ones."""

    sessions: int = 0
    steps: int = 0
    items: int = 0
    compactions: int = 0


def time_behind(before: str | None, now: str) -> str:
    """The time of a change, behind that of the change before it, also where the clock went back meanwhile."""
    last = to_milliseconds(before)
    return now if before is None or last is None or before < now else to_text(last + 1)


def is_masked_later(told: StoredStep | StoredCompaction, known_at: int | None) -> bool:
    """Whether secrets were masked in what is told after they were in what is known, if they ever were."""
    return told.masked_at is not None and (known_at is None or told.masked_at > known_at)
