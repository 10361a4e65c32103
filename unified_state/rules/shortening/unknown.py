"""Of an output of no known kind: head and tail, and every line of trouble with what stands around it."""

from __future__ import annotations

from unified_state.rules.shortening.ranking import Ranking, around, ends_first

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.rules.shortening.view import View

KIND = "output"
SCALES = (70, 46, 20)  # by level


def rank(view: View) -> Ranking:
    """Both ends inwards, troubles whole."""
    count = len(view.pieces)
    return Ranking(around(view.troubles, count), ends_first(count))
