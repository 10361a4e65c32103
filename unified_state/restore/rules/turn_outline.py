"""A turn in short: what was asked, which tools ran on what, what was said last. Nothing is interpreted."""

from __future__ import annotations

from unified_state.lib.stdlib import parse_json
from unified_state.lib.text.truncate import cut, one_line
from unified_state.model.known import TurnOutline
from unified_state.model.step import PROMPT, TEXT, TOOL_CALL, TOOL_RESULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from unified_state.model.step import Step

# What says most about a tool call, in this order.
_TELLING_FIELDS = ("file_path", "notebook_path", "command", "pattern", "url", "query", "description", "path", "prompt")
_MOST_ACTIONS, _ACTION_CHARACTERS = 8, 80
_CHARACTERS = 2_000  # of a prompt or answer; whoever shows it cuts further


def outline(number: int, at: int, steps: Sequence[Step]) -> TurnOutline:
    """The outline of a turn from its steps in order."""
    calls = [step for step in steps if step.kind == TOOL_CALL]
    texts = [step.text for step in steps if step.kind == TEXT and step.text.strip()]
    prompts = [step.text for step in steps if step.kind == PROMPT] or [step.text for step in steps[:1]]
    return TurnOutline(
        number=number,
        at=at,
        prompt=cut("\n".join(prompts), _CHARACTERS),
        actions=_actions(calls),
        tool_calls=len(calls),
        errors=sum(step.is_error for step in steps if step.kind == TOOL_RESULT),
        answer=cut(texts[-1], _CHARACTERS) if texts else "",
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
