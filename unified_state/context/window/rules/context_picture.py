"""A picture of a context in plain text: a column for each point, the line where the client compacts, the compactions.

The columns are eighths of blocks, so that eight lines show 64 sizes.
"""

from __future__ import annotations

from unified_state.context.window.rules.context_phase import short_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from unified_state.model.context_usage import Point

_ROWS, _EIGHTHS = 8, " ▁▂▃▄▅▆▇█"
_LIMIT, _CUT = "┄", "▼"
_LABEL = 6  # characters before the axis


def draw_context(points: Sequence[Point], cuts: Sequence[int], limit: int) -> list[str]:
    """The lines of the picture; `cuts` are the times of the compactions, oldest first."""
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
    """The points that come first after a compaction."""
    after = (next((index for index, point in enumerate(points) if point.at >= cut), None) for cut in cuts)
    return {index for index in after if index is not None and points[0].at < points[index].at}


def _cell(eighths: int) -> str:
    return _EIGHTHS[max(0, min(8, eighths))]
