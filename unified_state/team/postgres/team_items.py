"""The items of colleagues on the server: their words, a search for them, and the record behind a ref.

Decisions, constraints, questions and failed attempts are found. Row security leaves out what is not shared.
"""

from __future__ import annotations

from unified_state.model.history_records import StoredItem
from unified_state.model.item import ATTEMPT, CONSTRAINT, DECISION, QUESTION
from unified_state.team.postgres.step_words import words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass

FOUND_KINDS = (DECISION, CONSTRAINT, QUESTION, ATTEMPT)


def item_words(item: StoredItem) -> str:
    """Return the words of an item for the index, or "" for one of a kind that is not found."""
    if item.kind not in FOUND_KINDS:
        return ""
    return words_of(" ".join(value for value in item.body.values() if isinstance(value, str)))
