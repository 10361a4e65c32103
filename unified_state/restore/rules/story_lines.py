"""The story: the last turns, each with the ref that `recall` takes. A turn that the client's summary quotes is left
out.
"""

from __future__ import annotations

from unified_state.lib.stdlib import parse_json
from unified_state.lib.text.truncate import cut, one_line
from unified_state.memory.ledger.rules.item_lines import turn_lines
from unified_state.model.known import TurnOutline
from unified_state.model.step import PROMPT, TEXT, TOOL_CALL, TOOL_RESULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unified_state.model.known import Known
    from unified_state.model.step import Step


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


# What says most about a tool call, in this order.
_TELLING_FIELDS = ("file_path", "notebook_path", "command", "pattern", "url", "query", "description", "path", "prompt")
_MOST_ACTIONS, _ACTION_CHARACTERS = 8, 80
_OUTLINE_CHARACTERS = 2_000  # of a prompt or answer; whoever shows it cuts further


def outline(number: int, at: int, steps: Sequence[Step]) -> TurnOutline:
    """The outline of a turn from its steps in order."""
    calls = [step for step in steps if step.kind == TOOL_CALL]
    texts = [step.text for step in steps if step.kind == TEXT and step.text.strip()]
    prompts = [step.text for step in steps if step.kind == PROMPT] or [step.text for step in steps[:1]]
    return TurnOutline(
        number=number,
        at=at,
        prompt=cut("\n".join(prompts), _OUTLINE_CHARACTERS),
        actions=_actions(calls),
        tool_calls=len(calls),
        errors=sum(step.is_error for step in steps if step.kind == TOOL_RESULT),
        answer=cut(texts[-1], _OUTLINE_CHARACTERS) if texts else "",
    )


def _actions(calls: Sequence[Step]) -> tuple[str, ...]:
    """The distinct actions of a turn, the last ones where there are many, with how often each was done."""
    counts: dict[str, int] = {}
    for call in calls:
        action = f"{call.tool} {_target(call)}".strip()
        counts[action] = counts.pop(action, 0) + 1
    newest = list(counts.items())[-_MOST_ACTIONS:]
    return tuple(action if count == 1 else f"{action} ({count} times)" for action, count in newest)


def _target(call: Step) -> str:
    try:
        fields = parse_json(call.text)
    except ValueError:
        return ""
    for name in _TELLING_FIELDS:
        value = fields.get(name) if isinstance(fields, dict) else None
        if isinstance(value, str) and value:
            return cut(one_line(value), _ACTION_CHARACTERS)
    return ""
