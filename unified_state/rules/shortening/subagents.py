"""Of a subagent at work or done: what it reports, whole; the list of its tool calls is counted."""

from __future__ import annotations

from unified_state.rules.shortening.ranking import Ranking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.rules.shortening.call import Call
    from unified_state.rules.shortening.view import View

KIND = "subagent"
SCALE = 0.3
_TOOL_CALL = "[Tool: "
_LABEL = "of tool calls"


def fits(call: Call, view: View) -> bool:
    """Whether a running or ended subagent is looked at."""
    return call.tool in {"TaskOutput", "AgentOutput", "AgentOutputTool"} and "<task_type>local_agent" in view.text[:500]


def rank(view: View) -> Ranking:
    """All but the tool calls; of those the last."""
    calls = dict.fromkeys([at for at, piece in enumerate(view.pieces) if piece.startswith(_TOOL_CALL)], _LABEL)
    report = set(range(len(view.pieces))) - calls.keys()
    return Ranking(report, list(reversed(calls)), calls)
