"""The short form of a tool output, or None if the model gets the output unchanged, at each level of lean context.

For every output, no rule raises, takes more than linear time, or shows text that is not in the output.

The shown part grows with the square root of the length, by a factor for each kind and level. Some outputs are never
shortened: short ones, the contents of files, the user's answers, recalled texts, and texts with marks like ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unified_state.extras.lean.rules.tool_call import Call
    from unified_state.model.step import ShortForm


GENTLE, MIDDLE, TIGHT = LEVELS = (1, 2, 3)
_LEAST = (3_000, 1_000, 900)  # characters, by level
_MOST = (30_000, 16_000, 8_000)
_LARGEST_SHARE = 0.85  # of the output; a longer short form is not worthwhile


def is_short(characters: int, level: int) -> bool:
    """Return whether an output of this length is too short to be shortened."""
    return characters < _LEAST[level - 1]


def budget(characters: int, scales: tuple[int, int, int], level: int) -> int:
    """Return the number of characters that are shown of such an output, in addition to its mandatory units."""
    return min(int(scales[level - 1] * characters**0.5), _MOST[level - 1])


_ANSWERS = frozenset(("AskUserQuestion", "ExitPlanMode", "Skill", "TodoWrite"))  # the user's answers, and lists of work
_OWN = ("unified-state", "unified_state")
_MODULE = "unified_state."  # `python -m unified_state.interfaces.cli.main`


def call_to_shorten(tool: str, given: dict[str, Any], output: str, level: int) -> Call | None:
    """Return the call if its output may be shortened, or None if it stays unchanged."""
    if is_short(len(output), level) or tool in _ANSWERS or any(name in tool for name in _OWN):
        return None
    from unified_state.extras.lean.rules.cut_marks import holds_marks, is_recalled

    if is_recalled(output) or holds_marks(output):
        return None
    # Most outputs are short: only the others need to know the command.
    from unified_state.extras.lean.rules.tool_call import call_of, shows_files

    call = call_of(tool, given)
    return None if shows_files(call) or any(map(_runs_ours, call.commands)) else call


def _runs_ours(words: tuple[str, ...]) -> bool:
    """Return whether a command runs our program, also through `sudo`, `uv run` or `time`."""
    return any(word.rsplit("/", 1)[-1] in _OWN or word.startswith(_MODULE) for word in words)


def shorten(tool: str, given: dict[str, Any], output: str, level: int) -> ShortForm | None:
    """Return the short form of a call's output at a level from 1 to 3, or None if it stays unchanged."""
    call = call_to_shorten(tool, given, output, level)
    return None if call is None else short_form(call, output, level)


def short_form(call: Call, output: str, level: int) -> ShortForm | None:
    """Return the short form for a call whose output may be shortened, or None. The first kind that fits an output ranks
    its units.
    """
    from unified_state.extras.lean.rules.output_kinds import DIFF, JSON, OTHER, REPORT, SEARCH_RESULTS
    from unified_state.extras.lean.rules.output_view import View
    from unified_state.extras.lean.rules.run_kinds import BUILD, TEST_RUN
    from unified_state.extras.lean.rules.short_form import pick, with_troubles, write

    view = View(output, has_troubles=not call.only_prints)
    if view.is_all_trouble:
        return None
    kind = next(kind for kind in (REPORT, TEST_RUN, BUILD, DIFF, JSON, SEARCH_RESULTS, OTHER) if kind.fits(call, view))
    ranking = kind.rank(view)
    shown = pick(view, with_troubles(view, ranking), budget(len(output), kind.scales, level))
    short = write(kind.name, view, shown, ranking)
    return short if len(short.text) <= _LARGEST_SHARE * len(output) else None
