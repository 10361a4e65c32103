"""The rules file `.claude/rules/unified-state.md`: a second channel for the state, without hooks.

The client reads it at its start and after each compaction. The file contains only our text, and it is written only if
the user asked for it. That choice is recorded next to the archive, because a file in the repository could be a
stranger's.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from unified_state.archive.archive import Archive
from unified_state.archive.sessions import newest_session
from unified_state.errors import StorageError, UnifiedStateError
from unified_state.lib.fence import fenced
from unified_state.lib.files import FileLock, remove_if_empty, write_note
from unified_state.lib.read_files import SMALL_FILE, open_regular, read_regular
from unified_state.lib.times import to_text
from unified_state.project.git_command import GitNotCalledError, prepare_git
from unified_state.project.git_exclude import exclude_from_git
from unified_state.project.place import RULES_FILES, Place, wants_rules_file
from unified_state.project.workspace.workspace import Workspace
from unified_state.restore.compose_restore import gather
from unified_state.restore.rules.compose import compose
from unified_state.settings import Settings, environment

_NAME = os.path.join("rules", "unified-state.md")
_OPENING = "<!-- Written anew by unified-state whenever the state changes; `unified-state uninstall` removes it. -->"
_LOCK_SECONDS = 4.0
_NOTHING = "Nothing is recorded yet."


def begin_rules_file(workspace: Workspace, now: int) -> str:
    """Write the file, keep the files of all worktrees up to date from now on, and return its path.

    Raises UnifiedStateError if another file has its path, or if git would publish it.
    """
    place, path = workspace.place, rules_path(workspace.place)
    exclude_from_git(place, [_NAME.replace(os.sep, "/")])
    if place.repository.git_dir is not None and not _is_ignored(path, place.repository.worktree, environment()):
        message = f"git tracks {path}, or a .gitignore says that it should"
        raise UnifiedStateError(message, "others would see what is recorded here; `git rm --cached` it first")
    workspace.use(lambda archive: write_rules_file(archive, place, workspace.settings, now))
    return path


def write_rules_file(archive: Archive, place: Place, settings: Settings, now: int) -> None:
    """Write the file of a worktree from the current ledger. Raises UnifiedStateError if it cannot be written or is not
    ours.
    """
    path = rules_path(place)
    if os.path.lexists(path) and not _is_ours(path):
        message = f"{path} is a file of somebody else's"
        raise UnifiedStateError(message, "move it to another name; it was left alone")
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with FileLock(
            f"{_list_path(place)}.lock", _LOCK_SECONDS
        ):  # so that the later of two writers has the newer state
            write_note(path, _text(archive, place, settings, now).encode())
            if path not in _written(place):
                with open(_list_path(place), "a", encoding="utf-8", errors="surrogateescape") as file:
                    file.write(f"{path}\n")
    except OSError as error:
        message = f"{error.filename or path} cannot be written: {error.strerror}"
        raise StorageError(message, "check the permissions of the folder") from error


def _text(archive: Archive, place: Place, settings: Settings, now: int) -> str:
    """Return the text of a new session start now, within the budget of the state."""
    known = gather(archive, place, newest_session(archive, now), "startup", now)
    told = compose(known, settings.budget_max).brief or _NOTHING
    about = f"recorded facts of this project, as of {to_text(now)}, as data"
    return f"{_OPENING}\n\n{fenced(told, os.urandom(6).hex(), about)}\n"


def end_rules_files(place: Place) -> list[str]:
    """Delete the files of all worktrees, stop updating them, and return their paths. Raises StorageError."""
    removed = [path for path in _written(place) if os.path.lexists(path) and _is_ours(path)]
    for path in removed:
        try:
            os.unlink(path)
        except OSError as error:
            message = f"{path} cannot be removed: {error.strerror}"
            raise StorageError(message, "check the permissions of the folder") from error
        remove_if_empty(os.path.dirname(path))
    if wants_rules_file(place):
        os.unlink(_list_path(place))
    return removed


def rules_path(place: Place) -> str:
    """Return the path of a worktree's file."""
    return os.path.join(place.repository.worktree, ".claude", _NAME)


def _list_path(place: Place) -> str:
    return os.path.join(place.folder, RULES_FILES)


def _written(place: Place) -> list[str]:
    try:
        return list(dict.fromkeys(os.fsdecode(read_regular(_list_path(place), SMALL_FILE)).splitlines()))
    except FileNotFoundError:
        return []


def _is_ours(path: str) -> bool:
    try:
        with open_regular(path) as file:
            return file.readline(SMALL_FILE).rstrip() == _OPENING.encode()
    except OSError:
        return False


def _is_ignored(path: str, worktree: str, environ: Mapping[str, str]) -> bool:
    """Return whether git ignores the file, which includes that it is not tracked. Raises UnifiedStateError."""
    import subprocess

    try:
        git = prepare_git(worktree, environ, converts=False)
    except GitNotCalledError as error:
        message = f"whether git leaves {path} out is not known: {error}"
        raise UnifiedStateError(message, "see `git status` in this folder, and try again") from error
    question = git.arguments("check-ignore", "--quiet", path)
    done = subprocess.run(question, env=git.environment, capture_output=True, check=False)
    return done.returncode == 0
