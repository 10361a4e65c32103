"""Whether some words say what an item says, no less and nothing else: in doubt they do not."""

from __future__ import annotations

from unified_state.capture.survival.rules.compare import BESIDE, compare
from unified_state.capture.survival.rules.read_statement import read
from unified_state.model.survival_verdicts import KEPT


def says(words: str, claim: str) -> bool:
    """Whether the words say the claim, word for word or in other words."""
    return _folded(claim) == _folded(words) or compare(read(claim), read(words), BESIDE) == KEPT


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".。!?;")
