"""Note after a turn, or at a session's end, that its next prompt needs no addition (see `generation`)."""

from __future__ import annotations

import os

from unified_state.archive.archive import Archive
from unified_state.archive.compactions import latest_compaction
from unified_state.archive.sessions import read_cursor, session_number, waiting_for_prompt
from unified_state.hosts.gate.generation import drop_quiet, note_quiet
from unified_state.interfaces.hooks.hook_call import HookCall
from unified_state.model.hook_event import HOST_MARK
from unified_state.project.health import newest_problem
from unified_state.settings import default_data_dir


def note_if_quiet(call: HookCall, archive: Archive) -> None:
    """Write the session's note if its turns are archived and its next prompt needs no addition.

    No other process commits meanwhile: whoever does so afterwards ends the generation.
    """
    event, place = call.event, call.workspace.place
    if event.agent_id or event.is_foreign or HOST_MARK in event.session_id:
        return
    for data_dir in {call.settings.data_dir, default_data_dir()}:
        drop_quiet(data_dir, event.session_id)
    if not place.is_settled or newest_problem(place.folder) is not None or not call.moment.has_time():
        return
    with archive.transaction(durable=False):
        if _is_quiet(call, archive):
            note_quiet(place.folder, call.settings.data_dir, event.session_id)


def _is_quiet(call: HookCall, archive: Archive) -> bool:
    session, path = session_number(archive, call.event.session_id), call.event.transcript_path
    if session is None or read_cursor(archive, path) is None or not os.path.isfile(path):
        return False
    if latest_compaction(archive, session) is not None:
        return False  # each prompt after it gets what the archive knows about it
    has_news, has_line = waiting_for_prompt(archive, session)
    return not (has_news or has_line)
