"""Note a session's way to its archive and settings, for the hooks that end early (see `session_way`)."""

from __future__ import annotations

import os

from unified_state.lib.files import make_room, write_note
from unified_state.lib.stdlib import SMALL_FILE, dump_json, parse_json, read_regular
from unified_state.memory.repository.place import hook_settings, locate, way_now
from unified_state.memory.spool.session_way import is_as_it_was, way_path
from unified_state.memory.workspace.session_project import session_project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.interfaces.hooks.hook_call import HookCall


def note_way(call: HookCall) -> None:
    """Write the session's way, for events from the same folder. Call it with the archive closed."""
    event = call.event
    if not event.session_id or event.agent_id or call.workspace.journal is not None:
        return
    path = way_path(call.settings.data_dir, event.session_id)
    if not path or _is_true(path, event.cwd):
        return
    way = way_now(call.workspace.place, event.cwd, call.settings.data_dir)
    if way is None or not _finds_the_same(call):  # this hook began to work before the files were looked at
        return
    if not os.path.exists(path):
        make_room(os.path.dirname(path))
    settings = call.settings
    syncs = settings.postgres_enabled and settings.sync_in_background
    write_note(path, dump_json({**way, "syncs": syncs}).encode("utf-8", "surrogatepass"))


def _is_true(path: str, cwd: str) -> bool:
    """Return whether the way that is noted is as it was."""
    try:
        way = parse_json(read_regular(path, SMALL_FILE).decode("utf-8", "surrogatepass"))
        return "syncs" in way and is_as_it_was(way, cwd)  # an earlier version left it out
    except (OSError, ValueError, TypeError, KeyError):
        return False


def _finds_the_same(call: HookCall) -> bool:
    """Return whether a hook that begins now finds the same archive, and is not disabled."""
    data_dir = call.settings.data_dir
    project = session_project(call.event, call.environ, data_dir)
    place = locate(project, data_dir, create=False, shell=call.event.cwd)
    is_same = place.is_settled and place.folder == call.workspace.place.folder
    return is_same and hook_settings(place, data_dir, call.environ).enabled
