"""Decide whether a long tool output is shortened before the model reads it.

Most outputs pass unchanged, and their check costs little more than reading them: neither settings nor archive are
opened. If in doubt an output passes unchanged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unified_state.extras.lean.rules.answer_shapes import text_of
from unified_state.extras.lean.rules.levels import call_to_shorten
from unified_state.model.hook_event import HookEvent

if TYPE_CHECKING:
    from unified_state.model.step import Shortened

_SHELL = "Bash"


def shortened_output(event: HookEvent, level: int) -> tuple[str, Shortened] | None:
    """Return the output of a tool call and its short form, or None if it passes unchanged. No file is read."""
    tool, given = event.text("tool_name"), event.extra.get("tool_input")
    if not event.text("tool_use_id") or not event.session_id or not isinstance(given, dict):
        return None
    if event.agent_id and tool != _SHELL:
        return None  # a subagent may not be able to recall
    text = text_of(tool, event.extra.get("tool_response"))
    call = None if text is None else call_to_shorten(tool, given, text, level)
    if text is None or call is None:
        return None
    from unified_state.extras.lean.rules.shorten import short_form  # most outputs need no rule

    short = short_form(call, text, level)
    return None if short is None else (text, short)
