"""Keep a restore in a file that SessionStart prints without opening the archive, if nothing has changed until then.

What it was made from is looked at before it is composed: the files by which the hook finds archive, settings and
commit, the transcript, and the version of the archive. Invariant: the file is written while no other process can
commit, so `forget`, which removes it after its commit, never leaves one behind.
"""

from __future__ import annotations

import os

from unified_state.interfaces.hooks.find_health import find_health
from unified_state.lib.files import make_room, write_note
from unified_state.lib.package import PACKAGE_ROOT
from unified_state.lib.stdlib import dump_json
from unified_state.memory.archive.sessions import read_cursor
from unified_state.memory.repository.find_repository import read_head
from unified_state.memory.repository.place import REMINDERS_ON, has_reminders, may_have_journals, way_now
from unified_state.memory.spool.ready_file import archive_version, ready_path
from unified_state.restore.restore_table import last_news
from unified_state.restore.tell_inbox import is_to_be_told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from unified_state.interfaces.hooks.hook_call import HookCall
    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.repository.place import Place
    from unified_state.restore.ready_restore import Ready


def look_before(call: HookCall, archive: Archive) -> dict[str, Any] | None:
    """Return what a restore is made from, as it is before; None where SessionStart has more to do than to print it."""
    place = call.workspace.place
    if call.workspace.journal is not None or has_reminders(place) or may_have_journals(place):
        return None
    path = call.event.transcript_path
    cursor = read_cursor(archive, path)
    way = way_now(place, call.event.cwd, call.settings.data_dir, files_of(place))
    if way is None or cursor is None or not os.path.exists(path):
        return None
    read = [path, os.stat(path).st_ino, cursor.offset]
    return {**way, "transcript": read, "seen": archive.value("PRAGMA data_version")}


def keep_ready(call: HookCall, archive: Archive, before: dict[str, Any] | None, ready: Ready) -> None:
    """Write a restore that was composed since `before`, if no other process has committed meanwhile."""
    place, session_id = call.workspace.place, call.event.session_id
    if before is None or is_to_be_told(archive) or find_health(call, archive) is not None:
        return
    path = ready_path(place.folder, session_id)
    make_room(os.path.dirname(path))
    with archive.transaction(durable=False):
        if before.pop("seen") != archive.value("PRAGMA data_version"):
            return
        kept = {"version": archive_version(place.archive_path), "news": last_news(archive), **ready}
        write_note(path, dump_json({**before, **kept}).encode("utf-8", "surrogatepass"))


def files_of(place: Place) -> tuple[str, ...]:
    """Return the files that change with the program, the commit, the index, the enforced rules, and a journal."""
    repository = place.repository
    git_dir, common_dir = repository.git_dir or "", repository.common_dir or ""
    branch = f"refs/heads/{read_head(repository)[1]}"
    return (
        os.path.join(PACKAGE_ROOT, "unified_state", "lib", "package.py"),  # another version
        *(os.path.join(git_dir, name) for name in ("HEAD", "index")),
        *(os.path.join(common_dir, name) for name in (branch, "packed-refs", "reftable/tables.list")),
        *(os.path.join(place.folder, name) for name in (REMINDERS_ON, "enforced.json", "json")),
        *(os.path.join(repository.worktree, ".claude", name) for name in ("settings.local.json", "unified-state")),
    )
