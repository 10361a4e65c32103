"""Whether what a summary reports as new is new: an item that is known, in whatever state, is not recorded again."""

from __future__ import annotations

from unified_state.capture.survival.rules.compare import BESIDE, UNNAMED, compare
from unified_state.capture.survival.rules.judge_summary import claim_of
from unified_state.capture.survival.rules.read_statement import read
from unified_state.capture.survival.rules.summary_block import alias_in_front
from unified_state.model.survival_verdicts import DISTORTED, KEPT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from unified_state.model.item import LedgerItem


NEW, KNOWN, CONTRARY = "new", "known", "contrary"


def told_before(text: str, items: Iterable[LedgerItem]) -> str:
    """Whether a reported text is new, repeats an item, or says something else of what an item speaks of. What is said
    under the ref of a known item is judged with the summary, and is not new.
    """
    items = list(items)
    alias = alias_in_front(text)
    if alias and any(item.alias == alias for item in items):
        return KNOWN
    said, folded = read(text), _folded(text)
    verdicts = set()
    for item in items:
        claim = claim_of(item)
        if _folded(claim) == folded:
            return KNOWN
        reading = read(claim)
        if reading.terms.keys() & said.terms.keys():
            verdicts.add(compare(reading, said, UNNAMED))
            if KEPT in verdicts:
                return KNOWN
    return CONTRARY if DISTORTED in verdicts else NEW


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".。!?")


def says(words: str, claim: str) -> bool:
    """Whether the words say the claim, word for word or in other words."""
    return (
        _same_statement_folded(claim) == _same_statement_folded(words)
        or compare(read(claim), read(words), BESIDE) == KEPT
    )


def _same_statement_folded(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".。!?;")
