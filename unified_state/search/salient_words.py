"""The words of a text that tell what it is about: not those of any talk, and not those that much of the archive has."""

from __future__ import annotations

from unified_state.lib.query import CHATTER, query_words
from unified_state.memory.archive.full_text import count_having, count_steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.archive.archive import Archive

_FEW, _COMMON = 12, 0.1  # steps, and the share of all steps, that may have a word which tells something


def tells_something(having: int, steps: int) -> bool:
    """Whether a word that so many of all steps have tells one from another."""
    return having <= max(_FEW, steps * _COMMON)


def telling_words(archive: Archive, text: str) -> list[str]:
    """The words of a text that tell what it is about, in order."""
    words = [word for word in query_words(text) if word not in CHATTER]
    steps = count_steps(archive)
    having = count_having(archive, words, steps)
    return [word for word in words if tells_something(having[word], steps)]
