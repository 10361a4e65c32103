"""The story: the last turns, each with the ref that `recall` takes. A turn that the client's summary quotes is left
out.
"""

from __future__ import annotations

from unified_state.lib.text.truncate import one_line
from unified_state.memory.ledger.rules.item_lines import turn_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from unified_state.model.known import Known

_NEWEST_CHARACTERS, _CHARACTERS = 700, 320
STORY_HEAD = "[LAST TURNS] the newest first"
_WORTH, _FADING = 12.0, 0.85  # of the newest turn, on the scale of the working set; from each turn to the one before
_QUOTED = 100  # characters of a prompt by which it is found in a summary
_BY_CHANCE = 16  # characters; a shorter prompt ("go on") may stand there without being meant
_QUOTES = ('"{}"', "\u201c{}\u201d", "'{}'", "`{}`")


def story(known: Known) -> Iterator[tuple[str, float]]:
    """The turns in words, the newest first, each with its worth."""
    summary, worth = one_line(known.summary or ""), _WORTH
    for turn in known.turns:
        prompt = one_line(turn.prompt)
        if prompt and (_is_quoted(prompt, summary) or not (turn.tool_calls or turn.answer)):
            continue  # the summary goes on from there, or nothing came of it
        limit = _NEWEST_CHARACTERS if worth == _WORTH else _CHARACTERS
        yield "\n".join(turn_lines(turn, known.now, limit)), worth
        worth *= _FADING


def _is_quoted(prompt: str, summary: str) -> bool:
    if len(prompt) < _BY_CHANCE:
        return any(quotes.format(prompt) in summary for quotes in _QUOTES)
    return prompt[:_QUOTED] in summary
