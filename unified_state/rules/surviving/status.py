"""Whether a statement tells of something as past or settled, whatever it is."""

from __future__ import annotations

_PAST = frozenset(
    "superseded formerly previously obsolete outdated originally abandoned reverted rejected deprecated revoked withdrawn "
    "cancelled canceled lifted retired undone discarded scrapped overruled rescinded".split()
)
_SETTLED = frozenset("resolved answered settled closed decided solved".split())
_STILL = frozenset("still open pending yet unresolved undecided unanswered tbd unclear until not awaiting remains".split())


def _words(text: str) -> set[str]:
    return {word.strip("`'\"()[]{},;:!?*.|~") for word in text.lower().split()}


def is_called_past(text: str) -> bool:
    """Whether it says that something held once: superseded, reverted, no longer."""
    words = _words(text)
    return bool(words & _PAST) and not ("not" in words or "never" in words) or "no longer" in text.lower()


def is_called_open(text: str) -> bool:
    """Whether it leaves a question open."""
    words = _words(text)
    return not words & _SETTLED or bool(words & _STILL)
