"""The one entry: the short form of a tool output, or none where it goes to the model as it is.

Whatever the output holds, no rule raises, takes more than linear time, or shows what is not in it.
"""

from __future__ import annotations

from unified_state.context.lean.rules.data_kinds import JSON, LOG, OTHER, REPORT
from unified_state.context.lean.rules.levels import budget, call_to_shorten
from unified_state.context.lean.rules.output_view import View
from unified_state.context.lean.rules.place_kinds import DIFF, GENERATED, LISTING, SEARCH_RESULTS
from unified_state.context.lean.rules.run_kinds import BUILD, TEST_RUN
from unified_state.context.lean.rules.short_form import pick, with_troubles, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from unified_state.context.lean.rules.tool_call import Call
    from unified_state.model.step import Shortened

# The first kind that fits an output says what of it is shown.
_KINDS = (REPORT, TEST_RUN, BUILD, DIFF, LOG, JSON, SEARCH_RESULTS, LISTING, GENERATED, OTHER)
_LARGEST_SHARE = 0.85  # of the output; a short form that saves less is not worth its marks


def shorten(tool: str, given: dict[str, Any], output: str, level: int) -> Shortened | None:
    """The short form of what a call gave, at a level from 1 to 3; None where it stays as it is."""
    call = call_to_shorten(tool, given, output, level)
    return None if call is None else short_form(call, output, level)


def short_form(call: Call, output: str, level: int) -> Shortened | None:
    """The same of a call that is known to be one whose output may be shortened."""
    view = View(output, has_troubles=not call.only_prints)
    if view.is_all_trouble:
        return None
    kind = next(kind for kind in _KINDS if kind.fits(call, view))
    ranking = kind.rank(view)
    shown = pick(view, with_troubles(view, ranking), budget(len(output), kind.scales, level))
    short = write(kind.name, view, shown, ranking)
    return short if len(short.text) <= _LARGEST_SHARE * len(output) else None
