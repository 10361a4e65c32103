"""One line about what other sessions decided: facts, with the refs that `recall` takes."""

from __future__ import annotations

from unified_state.memory.ledger.rules.item_lines import item_line
from unified_state.memory.ledger.rules.validity_text import with_validity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from unified_state.model.item import LedgerItem
    from unified_state.model.known import Known

_MOST, _CHARACTERS = 6, 300  # items, and characters of one


def holding_text(item: LedgerItem, replaced: Sequence[str], known: Known) -> str:
    """An item that holds now, and which ones no longer do because of it."""
    instead = f" [in place of {', '.join(replaced)}]" if replaced else ""
    return with_validity(f"{item_line(item, _CHARACTERS)}{instead}", item, known)


def ceased_text(item: LedgerItem, by: str | None) -> str:
    """An item that no longer holds, and what holds now in its place."""
    return f"{item.alias} is superseded by {by}" if by else f"{item.alias} no longer holds ({item.status})"


def elsewhere_line(texts: Sequence[str]) -> str:
    """The one line; empty where there is nothing to say."""
    if not texts:
        return ""
    left = len(texts) - _MOST
    more = f"; and {left} more: `unified-state decision list`, `unified-state constraint list`" if left > 0 else ""
    return f"[ELSEWHERE] Recorded outside of this session since its last prompt: {'; '.join(texts[:_MOST])}{more}"
