"""Write the note of a session's status line again after a commit (see `status_note`): the next line opens no archive.

Call it after the client went on, with the archive closed.
"""

from __future__ import annotations

import time

from unified_state.context.window.read_context import read_usage
from unified_state.context.window.status_line_data import glance_at
from unified_state.context.window.status_note import note_path
from unified_state.context.window.write_status_note import NoteWriter, written_for
from unified_state.interfaces.hooks.note_quiet import settled_stamp
from unified_state.memory.repository.place import hook_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.interfaces.hooks.hook_call import HookCall


def note_status(call: HookCall) -> None:
    """Write the note anew, if the session has one: its client shows our status line."""
    session_id, place, data_dir = call.event.session_id, call.workspace.place, call.settings.data_dir
    before = written_for(note_path(data_dir, session_id))
    if before is None or call.workspace.journal is not None:
        return
    from unified_state.agents.install.status_line_entry import status_line_files  # loads what most sessions need not

    cwd, has_other = before
    settled_stamp(place.archive_path)
    files = status_line_files(place.repository.worktree, call.environ)
    writer = NoteWriter(place, cwd, data_dir, session_id, files, has_other=has_other)
    settings = hook_settings(place, data_dir, call.environ)  # the writer looks first
    reading = read_usage(place.folder, session_id)
    _, figures = glance_at(place, settings, session_id, reading, int(time.time() * 1000), call.environ)
    if figures is not None and settings.enabled and settings.tier != "json":
        writer.write(figures)
