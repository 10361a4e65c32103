"""JSON, reports of subagents, and output of no known kind."""

from __future__ import annotations

from unified_state.extras.lean.rules.output_view import View
from unified_state.extras.lean.rules.short_form import Kind, Ranking, ends_first, newest_first
from unified_state.extras.lean.rules.tool_call import Call

_LOOKED_AT_JSON, _BEGINNING_PIECES = 40, 5
_LEAST_JSON = 0.6
_NOISE = ('url"', "_url", "node_id", "avatar", "gravatar", '_links"', '"href"', '"sha"', "reactions")


def _is_json(_call: Call, view: View) -> bool:
    """Return whether an output begins as JSON and continues as JSON."""
    start = "".join(view.pieces[:_BEGINNING_PIECES]).lstrip()[:2]
    if not start.startswith(("{", "[")) or start[1:2] not in {'"', "{", "[", "\n", "\r", " ", "\u007d", "]"}:
        return False
    lines = view.pieces[:_LOOKED_AT_JSON]
    return sum(
        '"' in line or line.strip() in {"{", "}", "[", "]", "},", "],", "[]"} for line in lines
    ) >= _LEAST_JSON * len(lines)


def _rank_json(view: View) -> Ranking:
    """Rank the beginning first, then units with new names. Addresses and similar values are last."""
    pieces = view.pieces
    order = newest_first(pieces, range(len(pieces)))
    order.sort(key=lambda number: any(word in pieces[number] for word in _NOISE))
    return Ranking({0}, order)


_TOOLS = frozenset(("Task", "Agent"))
_AGENTS_OUTPUT = "<task_type>local_agent</task_type>"  # marks a subagent in the answer of TaskOutput
_BEGINNING = 500
_TOOL_CALL = "[Tool: "


def _is_report(call: Call, view: View) -> bool:
    """Return whether the output is a subagent's report, complete or so far."""
    return call.tool in _TOOLS or (call.tool == "TaskOutput" and _AGENTS_OUTPUT in view.text[:_BEGINNING])


def _rank_report(view: View) -> Ranking:
    """Rank the lines of the report from both ends. Its tool calls are labelled."""
    pieces = view.pieces
    calls = {number: "of tool calls" for number, piece in enumerate(pieces) if piece.startswith(_TOOL_CALL)}
    return Ranking(set(), [number for number in ends_first(len(pieces)) if number not in calls], calls)


def _rank_other(view: View) -> Ranking:
    """Rank both ends inwards, the head first: lists such as `git log` or a search begin with the newest or the best."""
    return Ranking(set(), ends_first(len(view.pieces), head=3))


def _is_anything(_call: Call, _view: View) -> bool:
    return True


JSON = Kind("JSON", (80, 40, 40), _is_json, _rank_json)
REPORT = Kind("report", (10_000, 90, 38), _is_report, _rank_report)
OTHER = Kind("output", (70, 35, 10), _is_anything, _rank_other)
