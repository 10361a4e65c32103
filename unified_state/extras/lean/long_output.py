"""Decide whether a long tool output is shortened before the model reads it.

Most outputs pass unchanged, and their check costs little more than reading them: neither settings nor archive are
opened. If in doubt an output passes unchanged.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from unified_state.extras.lean.rules.answer_shapes import text_of
from unified_state.extras.lean.rules.shorten import call_to_shorten, is_short, short_form
from unified_state.interfaces.tool_hook import Run, parse_event
from unified_state.model.hook_event import HookEvent

if TYPE_CHECKING:
    from unified_state.model.step import ShortForm

_SHELL = "Bash"
_LOCK_SECONDS = 2.0


def shorten_output(run: Run, read: Callable[[], bytes], level: int, environ: Mapping[str, str]) -> str:
    """Return the answer to the output that `read` returns, or "" if it passes unchanged."""
    raw = read()
    if is_short(len(raw), level):
        return ""
    event, problem = parse_event(raw, run.event_name)
    run.report(problem)
    found = shortened_output(event, level)
    return "" if found is None else _answer(run, event, *found, level, environ)


def shortened_output(event: HookEvent, level: int) -> tuple[str, ShortForm] | None:
    """Return the output of a tool call and its short form, or None if it passes unchanged. No file is read."""
    tool, given = event.text("tool_name"), event.extra.get("tool_input")
    if not event.text("tool_use_id") or not event.session_id or not isinstance(given, dict):
        return None
    if event.agent_id and tool != _SHELL:
        return None  # a subagent may not be able to recall
    text = text_of(tool, event.extra.get("tool_response"))
    call = None if text is None else call_to_shorten(tool, given, text, level)
    if text is None or call is None:
        return None
    short = short_form(call, text, level)
    return None if short is None else (text, short)


def _answer(run: Run, event: HookEvent, whole: str, short: ShortForm, level: int, environ: Mapping[str, str]) -> str:
    from unified_state.extras.lean.archive_output import archive_and_shorten
    from unified_state.lib.shell.search_path import own_program
    from unified_state.project.place import hook_settings, locate, session_project
    from unified_state.project.workspace.workspace import Workspace

    shell = event.cwd
    project = session_project(event.session_id, environ, run.data_dir, shell) or os.getcwd()
    place = locate(project, run.data_dir, create=False, shell=shell)
    settings, program = hook_settings(place, run.data_dir, environ), own_program(environ)
    if not settings.enabled or program is None:  # without a program nothing could recall it
        return ""
    place = place if place.is_settled else locate(project, run.data_dir, create=True, shell=shell)
    run.folder = place.folder
    workspace = Workspace(place, settings, report=run.report, session_id=event.session_id, seconds=_LOCK_SECONDS)
    return archive_and_shorten(workspace, event, whole, short, level=level, now=run.now, program=program)
