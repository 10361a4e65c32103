"""Whether what a summary reports as new is new: an item that is known, in whatever state, is not recorded again."""

from __future__ import annotations

from unified_state.records.survival import DISTORTED, KEPT
from unified_state.rules.summary_block import alias_in_front
from unified_state.rules.surviving.judging import CLAIMS, judge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from unified_state.records.item import LedgerItem
    from unified_state.rules.summary_block import Reported

NEW, KNOWN, CONTRARY = "new", "known", "contrary"


def told_before(line: Reported, items: Sequence[LedgerItem]) -> str:
    """Whether a reported line is new, says what an item says, or says something else of what an item speaks of."""
    alias = alias_in_front(line.text)
    if alias and any(item.alias == alias for item in items):
        return KNOWN  # what it says of that item is judged with the summary
    ...
    return NEW
