"""Purge: delete everything recorded for a repository, and with the last repository what serves them all."""

from __future__ import annotations

import os
import shutil

from unified_state.constraints.constraint_table import settings_path
from unified_state.constraints.told_once import worktrees_on
from unified_state.hosts.generation import QUIET_FOLDER
from unified_state.hosts.install.install_claude_code import put_tool_hook
from unified_state.lib.files import remove_if_empty
from unified_state.project.find_repository import ID_FILE, home_of
from unified_state.project.health import BUG_REPORT, LOG
from unified_state.project.place import KEY_FILE, SESSIONS_FOLDER, Place
from unified_state.project.workspace.waiting_events import waiting_files
from unified_state.settings import Settings


def purge(place: Place, settings: Settings) -> str:
    """Delete archive, events that wait, state file, identity and the hooks before tool calls. Return one line that
    names the deleted files.
    """
    for worktree in {place.repository.worktree, *worktrees_on(place.folder)}:
        put_tool_hook(settings_path(worktree), settings.data_dir, None)
    for path in waiting_files(place):
        os.unlink(path)
    shutil.rmtree(place.folder, ignore_errors=True)
    for name in (QUIET_FOLDER, SESSIONS_FOLDER):  # other sessions write theirs again
        shutil.rmtree(os.path.join(settings.data_dir, name), ignore_errors=True)
    stem = place.state_path.removesuffix(".json")
    identity = os.path.join(place.repository.identity_folder, ID_FILE)
    for path in (place.state_path, f"{stem}.lock", identity, f"{identity}.lock"):
        if os.path.exists(path):
            os.unlink(path)
    _clear_data_folder(settings.data_dir)
    return f"deleted {place.folder} and {place.state_path}"


def _clear_data_folder(data_dir: str) -> None:
    """Delete what serves all repositories, if there is none any more. Lists of settings that still have our hooks, and
    files that are not ours, stay.
    """
    repositories = os.path.dirname(home_of(data_dir, "id"))
    if not remove_if_empty(repositories) and os.path.lexists(repositories):
        return
    for name in (KEY_FILE, LOG, f"{LOG}.1", BUG_REPORT):
        if os.path.isfile(os.path.join(data_dir, name)):
            os.unlink(os.path.join(data_dir, name))
    remove_if_empty(data_dir)
