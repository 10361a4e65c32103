"""Parse the client's status-line JSON, and draw the picture of a context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unified_state.context.window.rules.status_text import MOST_BYTES, short_number, window_figures
from unified_state.lib.json_text import parse_object
from unified_state.lib.record import Record
from unified_state.model.context_usage import Point, Reading


class StatusInput(Record):
    """The session of a status line, its folder and its reading; a missing field is empty."""

    session_id: str = ""
    cwd: str = ""
    transcript_path: str = ""
    reading: Reading | None = None


def parse_status(raw: bytes, now: int) -> StatusInput:
    """Return the usable fields of the client's JSON."""
    fields = parse_object(raw) if len(raw) <= MOST_BYTES else None
    if fields is None:
        return StatusInput()
    return StatusInput(
        _text(fields.get("session_id")),
        _text(fields.get("cwd")),
        _text(fields.get("transcript_path")),
        _reading(fields.get("context_window"), now),
    )


def _reading(window: Any, now: int) -> Reading | None:
    figures = window_figures(window)
    return None if figures is None else Reading(figures[0], figures[1], now, figures[2])


def _text(value: Any) -> str:
    return value if isinstance(value, str) and "\0" not in value else ""


_ROWS, _EIGHTHS = 8, " ▁▂▃▄▅▆▇█"
_LIMIT, _CUT = "┄", "▼"
_LABEL = 6  # characters before the axis


def draw_context(points: Sequence[Point], cuts: Sequence[int], limit: int) -> list[str]:
    """Return the lines of the picture. `cuts` are the times of the compactions, the oldest first."""
    if not points:
        return []
    top = max(limit, *(point.tokens for point in points))
    marked = _marked(points, cuts)
    limit_row = min(_ROWS - 1, limit * _ROWS // top)
    lines = [" " * _LABEL + "  " + "".join(_CUT if index in marked else " " for index in range(len(points))).rstrip()]
    for row in reversed(range(_ROWS)):
        cells = "".join(_cell(point.tokens * _ROWS * 8 // top - row * 8) for point in points)
        if row == limit_row:
            cells = cells.replace(" ", _LIMIT) + _LIMIT * 2
        label = short_number(limit) if row == limit_row else ""
        lines.append(f"{label:>{_LABEL}} │{cells}".rstrip())
    turns = f"{points[0].turn}", f"{points[-1].turn}"
    gap = max(1, len(points) - len(turns[0]) - len(turns[1]))
    axis = turns[0] + " " * gap + turns[1] if points[0].turn != points[-1].turn else turns[1]
    lines += [f"{'0':>{_LABEL}} └" + "─" * len(points), f"{'turn':>{_LABEL}}  {axis}"]
    return lines if marked else lines[1:]


def _marked(points: Sequence[Point], cuts: Sequence[int]) -> set[int]:
    """Return the points directly after a compaction."""
    after = (next((index for index, point in enumerate(points) if point.at >= cut), None) for cut in cuts)
    return {index for index in after if index is not None and points[0].at < points[index].at}


def _cell(eighths: int) -> str:
    return _EIGHTHS[max(0, min(8, eighths))]
