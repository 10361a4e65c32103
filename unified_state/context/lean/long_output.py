"""Decide whether a long tool output is shortened before the model reads it.

Most outputs pass unchanged, and their check costs little more than reading them: neither settings nor archive are
opened. If in doubt an output passes unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from unified_state.context.lean.rules.answer_shapes import text_of
from unified_state.context.lean.rules.levels import TIGHT, call_to_shorten, is_short, level_in_force
from unified_state.model.hook_event import HookEvent
from unified_state.settings import Settings

if TYPE_CHECKING:
    from unified_state.context.lean.rules.tool_call import Call
    from unified_state.memory.repository.place import Place
    from unified_state.model.step import Shortened


_SHELL = "Bash"
_LOCK_SECONDS = 2.0


class LongOutput:
    """An output that may be shortened, with its tool call."""

    def __init__(self, event: HookEvent, call: Call, text: str) -> None:
        self.event = event
        self.call = call
        self.text = text

    def short_form(self, level: int) -> Shortened | None:
        """Return the short form at a level, or None if the output passes unchanged."""
        if is_short(len(self.text), level):
            return None
        from unified_state.context.lean.rules.shorten import short_form  # most outputs need no rule

        return short_form(self.call, self.text, level)


def long_output(event: HookEvent) -> LongOutput | None:
    """Return the output of a tool call if it may be shortened, or None. No file is read."""
    tool, given = event.text("tool_name"), event.extra.get("tool_input")
    if not event.text("tool_use_id") or not event.session_id or not isinstance(given, dict):
        return None
    if event.agent_id and tool != _SHELL:
        return None  # a subagent may not be able to recall
    text = text_of(tool, event.extra.get("tool_response"))
    call = None if text is None else call_to_shorten(tool, given, text, TIGHT)
    return None if text is None or call is None else LongOutput(event, call, text)


class Leaning:
    """Place, settings and environment of the hook. `report` receives each problem."""

    def __init__(
        self, place: Place, settings: Settings, environ: Mapping[str, str], now: int, report: Callable[[str], None]
    ) -> None:
        self.place = place
        self.settings = settings
        self.environ = environ
        self.now = now
        self.report = report

    def level(self, chosen: int, session_id: str) -> int:
        """Return the level in force: the chosen level, or a tighter one as the context fills up."""
        if chosen == TIGHT or not (self.settings.lean_adapts and self.settings.context_autopilot):
            return chosen
        from unified_state.context.window.pressure_file import read_pressure

        return level_in_force(chosen, read_pressure(self.place.folder, session_id))


def answer_to(output: LongOutput, chosen: int, leaning: Leaning) -> str:
    """Return the answer to the client, or "" if the output passes unchanged."""
    level = leaning.level(chosen, output.event.session_id)
    short = output.short_form(level)
    if short is None:
        return ""
    # Most outputs pass unchanged.
    from unified_state.context.lean.archive_output import archive_and_shorten
    from unified_state.memory.workspace.own_program import own_program
    from unified_state.memory.workspace.workspace import Workspace

    program, session_id = own_program(leaning.environ), output.event.session_id
    if program is None:
        return ""  # nothing could recall it
    workspace = Workspace(
        leaning.place, leaning.settings, report=leaning.report, session_id=session_id, seconds=_LOCK_SECONDS
    )
    return archive_and_shorten(
        workspace, output.event, output.text, short, level=level, now=leaning.now, program=program
    )
