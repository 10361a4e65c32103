"""`context`: how full the context is, how it grew, and when the client will compact it."""

from __future__ import annotations

from unified_state.interfaces.cli.command_context import Context
from unified_state.interfaces.cli.status_text import savings_line
from unified_state.model.context_usage import FROM_CLIENT, FROM_COMPACTIONS, FROM_DEFAULT
from unified_state.settings import environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from unified_state.context.window.context_report import ContextReport

_NOTHING = "no session is known here yet; the hooks of `unified-state install` watch the context"
_KNOWN_FROM = {
    FROM_CLIENT: "as its environment says",
    FROM_COMPACTIONS: "as it did before",
    FROM_DEFAULT: "by its documentation",
}


def configure(_name: str, parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--session", metavar="ID", help="default: the session that runs this, else the newest")
    parser.set_defaults(run=_context)


def _context(arguments: Namespace) -> int:
    from unified_state.context.window.context_report import report_context

    context = Context(as_json=arguments.json, session_id=arguments.session)
    workspace = context.workspace(create=False)
    report = None if workspace.is_empty else report_context(workspace, environment())
    if report is None:
        context.show(None, _NOTHING)
        return 0
    context.show(_fields(report), "\n".join(_lines(report)))
    return 0


def _fields(report: ContextReport) -> dict[str, Any]:
    reading, watched = report.reading, report.watched
    return {
        "session_id": report.session_id,
        "tokens": reading.tokens if reading else None,
        "window": reading.window if reading else None,
        "percent": round(reading.tokens * 100 / reading.window, 1) if reading else None,
        "compacts_at": watched.limit.tokens if watched else None,
        "known_from": watched.limit.known_from if watched else None,
        "percent_of_limit": round(reading.tokens * 100 / watched.limit.tokens, 1) if reading and watched else None,
        "phase": watched.phase if watched else None,
        **report.trend.as_dict(),
        "history": [point.as_dict() for point in report.history],
        "compactions": [cut.as_dict() for cut in report.compactions],
        "lean": {**report.lean.as_dict(), "tighter_by": report.pressure},
    }


def _lines(report: ContextReport) -> list[str]:
    from unified_state.context.window.rules.context_text import draw_context

    reading, watched, trend = report.reading, report.watched, report.trend
    lines = [f"session    {report.session_id}"]
    if reading is None or watched is None:
        return [*lines, "context    no answer since it began or was compacted"]
    tokens, limit = reading.tokens, watched.limit
    share, full = tokens * 100 / limit.tokens, tokens * 100 / reading.window
    known = _KNOWN_FROM[limit.known_from]
    lines.append(f"context    {tokens:,} of {reading.window:,} tokens ({full:.0f} %), phase {watched.phase}")
    lines.append(f"compaction at about {limit.tokens:,} tokens, {known}; {share:.0f} % of the way")
    if trend.tokens_per_turn is not None:
        left = f"; about {trend.turns_left} more until it compacts" if trend.turns_left is not None else ""
        lines.append(f"trend      {trend.tokens_per_turn:,} tokens a turn{left}")
    if report.lean.outputs:
        tighter = f"; now {report.pressure} level{'s'[: report.pressure - 1]} tighter" if report.pressure else ""
        lines.append(f"lean       {savings_line(report.lean)}{tighter}")
    lines += ["", *draw_context(report.history, [cut.at for cut in report.compactions], limit.tokens)]
    for cut in report.compactions:
        lines.append(f"▼ {cut.ref} {cut.trigger or 'unknown'} at {cut.pre_tokens or 0:,} tokens")
    return lines
