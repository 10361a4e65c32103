"""Of an output of no known kind: head and tail."""

from __future__ import annotations

from unified_state.context.lean.rules.rank import Ranking, ends_first

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.context.lean.rules.output_view import View

KIND = "output"
SCALES = (70, 35, 10)  # by level


def rank(view: View) -> Ranking:
    """Both ends inwards, the head before the tail: lists begin with the newest or the best, `git log` as a search."""
    return Ranking(set(), ends_first(len(view.pieces), head=3))
