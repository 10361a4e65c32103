"""Of what a subagent reports: all of it, but at the tightest level head and tail; the list of its tool calls is
counted.
"""

from __future__ import annotations

from unified_state.context.lean.rules.rank import Ranking, ends_first

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.context.lean.rules.output_view import View
    from unified_state.context.lean.rules.tool_call import Call

KIND = "report"
SCALES = (10_000, 90, 38)  # by level
_TOOLS = frozenset(("Task", "Agent"))
_AGENTS_OUTPUT = "<task_type>local_agent</task_type>"  # in what TaskOutput gives
_BEGINNING = 500
_TOOL_CALL = "[Tool: "


def fits(call: Call, view: View) -> bool:
    """Whether it is what a subagent reports, or did so far."""
    return call.tool in _TOOLS or (call.tool == "TaskOutput" and _AGENTS_OUTPUT in view.text[:_BEGINNING])


def rank(view: View) -> Ranking:
    """What it says, from both ends; none of its calls."""
    pieces = view.pieces
    calls = {number: "of tool calls" for number, piece in enumerate(pieces) if piece.startswith(_TOOL_CALL)}
    return Ranking(set(), [number for number in ends_first(len(pieces)) if number not in calls], calls)
