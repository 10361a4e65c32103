"""Which of two versions of a record is the newer one, whichever of them came first, and whatever the clock said."""

from __future__ import annotations

from unified_state.lib.text.timestamps import to_milliseconds, to_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.model.history_records import StoredCompaction, StoredStep


def time_behind(before: str | None, now: str) -> str:
    """The time of a change, behind that of the change before it, also where the clock went back meanwhile."""
    last = to_milliseconds(before)
    return now if before is None or last is None or before < now else to_text(last + 1)


def is_masked_later(told: StoredStep | StoredCompaction, known_at: int | None) -> bool:
    """Whether secrets were masked in what is told after they were in what is known, if they ever were."""
    return told.masked_at is not None and (known_at is None or told.masked_at > known_at)
