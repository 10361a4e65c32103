"""The one entry: the short form of a tool output, or none where it goes to the model as it is.

Never shortened: what is short, the contents of files, what a subagent reports, what the agent recalled, what holds
marks like ours. In doubt an output stays as it is.
"""

from __future__ import annotations

from unified_state.rules.shortening import (
    builds,
    diffs,
    generated,
    json_output,
    listings,
    logs,
    search_results,
    subagents,
    test_runs,
    unknown,
)
from unified_state.rules.shortening.call import call_of
from unified_state.rules.shortening.file_contents import shows_files
from unified_state.rules.shortening.levels import budget, is_short
from unified_state.rules.shortening.marks import holds_marks
from unified_state.rules.shortening.ranking import pick
from unified_state.rules.shortening.view import View
from unified_state.rules.shortening.writing import write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from unified_state.records.shortened import Shortened
    from unified_state.rules.shortening.call import Call

_KINDS = (
    subagents,
    test_runs,
    builds,
    diffs,
    logs,
    json_output,
    search_results,
    listings,
    generated,
)  # the first that fits
_ANSWERS = frozenset(("AskUserQuestion", "ExitPlanMode", "Skill", "TodoWrite"))  # the user's, or what is to be done
_OWN = ("unified-state", "unified_state")
_LARGEST_SHARE = 0.85  # of the output; a short form that saves less is not worth its marks


def shorten(tool: str, given: dict[str, Any], output: str, level: int) -> Shortened | None:
    """The short form of what a call gave, at a level from 1 to 3; None where it stays as it is."""
    if is_short(len(output), level) or holds_marks(output):
        return None
    call = call_of(tool, given)
    if _is_left_alone(call) or shows_files(call):
        return None
    view = View(output, has_troubles=not call.only_prints)
    if view.is_all_trouble:
        return None
    kind = next((kind for kind in _KINDS if kind.fits(call, view)), unknown)
    ranking = kind.rank(view)
    shown = pick(view, ranking, budget(len(output), kind.SCALES, level))
    short = write(kind.KIND, view, shown, ranking.labels)
    return short if len(short.text) <= _LARGEST_SHARE * len(output) else None


def _is_left_alone(call: Call) -> bool:
    """What was made for the agent to read whole, and what it asked us for."""
    is_own = any(name in call.tool for name in _OWN) or any(words[0] in _OWN for words in call.commands)
    return is_own or call.tool in _ANSWERS
