"""Which outputs go to the model as they are, told before anything dear is loaded.

Never shortened: what is short, the contents of files, what the user said, what the agent recalled, what holds marks
like ours. In doubt an output stays as it is.
"""

from __future__ import annotations

from unified_state.context.lean.rules.levels import is_short
from unified_state.memory.archive.rules.cut_marks import holds_marks, is_recalled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from unified_state.context.lean.rules.tool_call import Call

_ANSWERS = frozenset(("AskUserQuestion", "ExitPlanMode", "Skill", "TodoWrite"))  # the user's, or what is to be done
_OWN = ("unified-state", "unified_state")
_MODULE = "unified_state."  # `python -m unified_state.interfaces.cli.main`


def call_to_shorten(tool: str, given: dict[str, Any], output: str, level: int) -> Call | None:
    """The call whose output may be shortened; None where it stays as it is."""
    if is_short(len(output), level) or tool in _ANSWERS or any(name in tool for name in _OWN):
        return None
    if is_recalled(output) or holds_marks(output):
        return None
    # Most outputs are short: only the others need to know the command.
    from unified_state.context.lean.rules.kinds.file_contents import shows_files
    from unified_state.context.lean.rules.tool_call import call_of

    call = call_of(tool, given)
    return None if shows_files(call) or any(map(_runs_ours, call.commands)) else call


def _runs_ours(words: tuple[str, ...]) -> bool:
    """Whether a command runs ours, also behind `sudo`, `uv run` or `time`."""
    return any(word.rsplit("/", 1)[-1] in _OWN or word.startswith(_MODULE) for word in words)
