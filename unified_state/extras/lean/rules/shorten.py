"""The entry point: the short form of a tool output, or None if the model gets the output unchanged.

For every output, no rule raises, takes more than linear time, or shows text that is not in the output.
"""

from __future__ import annotations

from typing import Any

from unified_state.extras.lean.rules.data_kinds import JSON, OTHER, REPORT
from unified_state.extras.lean.rules.levels import budget, call_to_shorten
from unified_state.extras.lean.rules.output_view import View
from unified_state.extras.lean.rules.place_kinds import DIFF, SEARCH_RESULTS
from unified_state.extras.lean.rules.run_kinds import BUILD, TEST_RUN
from unified_state.extras.lean.rules.short_form import pick, with_troubles, write
from unified_state.extras.lean.rules.tool_call import Call
from unified_state.model.step import ShortForm

# Ordered by priority. The first kind that fits an output ranks its units.
_KINDS = (REPORT, TEST_RUN, BUILD, DIFF, JSON, SEARCH_RESULTS, OTHER)
_LARGEST_SHARE = 0.85  # of the output; a longer short form is not worthwhile


def shorten(tool: str, given: dict[str, Any], output: str, level: int) -> ShortForm | None:
    """Return the short form of a call's output at a level from 1 to 3, or None if it stays unchanged."""
    call = call_to_shorten(tool, given, output, level)
    return None if call is None else short_form(call, output, level)


def short_form(call: Call, output: str, level: int) -> ShortForm | None:
    """Return the short form for a call whose output may be shortened, or None."""
    view = View(output, has_troubles=not call.only_prints)
    if view.is_all_trouble:
        return None
    kind = next(kind for kind in _KINDS if kind.fits(call, view))
    ranking = kind.rank(view)
    shown = pick(view, with_troubles(view, ranking), budget(len(output), kind.scales, level))
    short = write(kind.name, view, shown, ranking)
    return short if len(short.text) <= _LARGEST_SHARE * len(output) else None
