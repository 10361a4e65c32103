"""Whether a statement tells of something as past or settled, whatever it is."""

from __future__ import annotations

from unified_state.capture.survival.rules.word_meanings import meaning

_PAST_WORDS = """
superseded formerly previously obsolete outdated originally abandoned reverted rejected deprecated revoked withdrawn
cancelled canceled lifted retired undone discarded scrapped overruled rescinded
"""
_FORMER_WORDS = """
replaced replaces supersedes instead earlier initially switched changed moved migrated dropped removed old considered
considering history
"""
_SETTLED_WORDS = "resolved answered settled closed decided solved"
_STILL_WORDS = "still open pending yet unresolved undecided unanswered tbd unclear until not awaiting remains"
_PAST, _FORMER, _SETTLED, _STILL = (
    frozenset(words.split()) for words in (_PAST_WORDS, _PAST_WORDS + _FORMER_WORDS, _SETTLED_WORDS, _STILL_WORDS)
)


def _words(text: str) -> set[str]:
    return {word.strip("`'\"()[]{},;:!?*.|~") for word in text.lower().split()}


def is_called_past(text: str, claim: str = "") -> bool:
    """Whether it says that something held once: superseded, reverted, no longer; what the claim itself says aside."""
    own = set(map(meaning, _words(claim)))
    words = {word for word in _words(text) if meaning(word) not in own}
    return (bool(words & _PAST) and not words & {"not", "never"}) or "no longer" in text.lower()


def is_called_former(text: str) -> bool:
    """Whether it may be told as what was so before; of what is known to be superseded little is enough."""
    return bool(_words(text) & _FORMER) or "no longer" in text.lower()


def is_called_open(text: str) -> bool:
    """Whether it leaves a question open."""
    words = _words(text)
    return not words & _SETTLED or bool(words & _STILL)
