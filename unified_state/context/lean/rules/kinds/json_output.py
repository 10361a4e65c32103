"""Of JSON: its shape, told beside it, and a sample. Each name of a field is shown with its first values; elements that
are like those before them, and values without words in them, go first.
"""

from __future__ import annotations

from unified_state.context.lean.rules.kinds.json_shape import shape_of
from unified_state.context.lean.rules.rank import Ranking, newest_first

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.context.lean.rules.output_view import View
    from unified_state.context.lean.rules.tool_call import Call

KIND = "JSON"
SCALES = (80, 40, 40)  # by level
_LONGEST_SHAPE, _SHAPES_SHARE = 500, 0.1  # characters; and of the output
_LOOKED_AT, _BEGINNING = 40, 5
_LEAST_SHARE = 0.6
_NOISE = ('url"', "_url", "node_id", "avatar", "gravatar", '_links"', '"href"', '"sha"', "reactions")


def fits(_call: Call, view: View) -> bool:
    """Whether an output begins as JSON does, and goes on so."""
    start = "".join(view.pieces[:_BEGINNING]).lstrip()[:2]
    if not start.startswith(("{", "[")) or start[1:2] not in {'"', "{", "[", "\n", "\r", " ", "\u007d", "]"}:
        return False
    lines = view.pieces[:_LOOKED_AT]
    return sum(
        '"' in line or line.strip() in {"{", "}", "[", "]", "},", "],", "[]"} for line in lines
    ) >= _LEAST_SHARE * len(lines)


def rank(view: View) -> Ranking:
    """The beginning, then what brings names that are new; addresses and the like last."""
    pieces = view.pieces
    order = newest_first(pieces, range(len(pieces)))
    order.sort(key=lambda number: any(word in pieces[number] for word in _NOISE))
    shape = shape_of(view.text, min(_LONGEST_SHAPE, int(_SHAPES_SHARE * len(view.text))))
    return Ranking({0}, order, about=f"JSON: {shape}" if shape else "")
