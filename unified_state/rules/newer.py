"""Which of two versions of a record is the newer one, whichever of them came first."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.records.history import StoredCompaction, StoredStep


def is_masked_later(told: StoredStep | StoredCompaction, known_at: int | None) -> bool:
    """Whether secrets were masked in what is told after they were in what is known, if they ever were."""
    return told.masked_at is not None and (known_at is None or told.masked_at > known_at)
