"""The places of a folder's files: its repository, the archive, the state file.

The project of a session is the folder in which it began, wherever it goes afterwards. Claude Code names it in the
environment of hooks and of MCP servers. That of commands has the session alone, and other hosts name no project. So
hooks keep it by the session's id until the session ends.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from zlib import crc32

from unified_state.errors import StorageError
from unified_state.lib.files import session_file, write_session_file
from unified_state.lib.json_text import dump_ascii_json, parse_json
from unified_state.lib.read_files import SMALL_FILE, not_ours, read_regular
from unified_state.lib.record import Record
from unified_state.model.refs import GLOBAL_MARK
from unified_state.project.find_repository import (
    ABOUT,
    Repository,
    find_repository,
    home_of,
    read_identity,
    recorded_identity,
)
from unified_state.settings import Settings, environment, load_settings

NAME = "unified-session-state.json"
_ARCHIVE = "archive.db"
JOURNAL = "history.jsonl"  # in place of the archive, with the tier json
EVENTS = "events.jsonl"  # what waits for the archive
_GIT_SECONDS = 10.0
KEY_FILE = "mask.key"
RULES_FILES = "rules-files"  # the paths of the written rules files, one on each line, if the user wants them
REMINDERS_ON = "reminders-on"  # the worktrees in which the user turned reminders on, one on each line
PROJECT_VARIABLE = "CLAUDE_PROJECT_DIR"
GLOBAL = "global"  # the memory for all projects: its folder in the data folder, and its id
SESSIONS_FOLDER = "sessions"  # in the data folder: the project of each session
EXCLUDED = (
    NAME,
    "unified-session-state.lock",
    "unified-session-state.damaged-*.json",
    "unified-session-state.*.tmp",  # temporary files that a killed process leaves
    "unified-state/",
)


class Place(Record):
    """The paths of a worktree's files.

    `folder` holds the files of the repository: archive, constraints, health. `id` is None if nothing was
    ever recorded. `key_folder` holds the masking key: the data folder if it is writable, so that all repositories share
    one key. `notice` describes a repair of the identity for the user. `is_settled` says that `locate` with `create`
    would write nothing.
    """

    repository: Repository
    id: str | None
    folder: str
    archive_path: str
    state_path: str
    digest_path: str
    key_folder: str
    notice: str | None = None
    is_settled: bool = False

    @property
    def mark(self) -> str:
        """What refs of items begin with outside their archive."""
        return GLOBAL_MARK if self.id == GLOBAL else ""


def locate(folder: str, data_dir: str, *, create: bool, shell: str = "") -> Place:
    """Return the place of a folder. Of the worktrees of its repository the one counts in which `shell` is, the folder
    of a session's shell; any other folder of the shell changes nothing.

    Without `create` nothing is written, and a repository without records has no archive yet. With `create`, raises
    StorageError if the identity exists but cannot be read, and if the archive has no place that is this user's.
    """
    if folder == global_folder(data_dir):
        return global_place(data_dir)
    repository, refused = _accepted(_worktree_of(find_repository(folder), folder, shell), folder)
    identity, repaired = recorded_identity(repository.identity_folder, data_dir), None
    is_recorded = identity is not None
    if identity is None:
        from unified_state.project.identity import identify  # only for what is new, or not as it should be

        identity, repaired = identify(repository, data_dir, create=create)
    notice = refused or repaired
    home = home_of(data_dir, identity.id if identity else "unknown")
    key_folder = data_dir
    # Without a writable home the archive is beside the state file. An archive that exists in the home stays in use.
    is_there = os.path.exists(os.path.join(home, _ARCHIVE)) or os.path.exists(os.path.join(home, JOURNAL))
    if not is_there and not (_make_private(home) if create else _could_be_made(home)):
        beside = _usable_beside(repository, create=create)
        if beside is not None:
            home = key_folder = beside
    is_settled = is_recorded and notice is None and os.path.exists(os.path.join(home, ABOUT))
    if create and not is_settled:
        _note(repository, home, notice)
    state_path = os.path.join(repository.worktree, ".claude", NAME)
    return Place(
        repository=repository,
        id=identity.id if identity else None,
        folder=home,
        archive_path=os.path.join(home, _ARCHIVE),
        state_path=state_path,
        digest_path=digest_path_of(home, state_path),
        key_folder=key_folder,
        notice=notice,
        is_settled=create or is_settled,
    )


def global_folder(data_dir: str) -> str:
    """Return the folder that stands for all projects of the user."""
    return os.path.join(data_dir, GLOBAL)


def global_place(data_dir: str) -> Place:
    """Return the place of the memory for all projects. No repository around the data folder counts."""
    folder = global_folder(data_dir)
    state_path = os.path.join(folder, ".claude", NAME)
    archive_path, digest_path = os.path.join(folder, _ARCHIVE), digest_path_of(folder, state_path)
    return Place(
        Repository(worktree=folder), GLOBAL, folder, archive_path, state_path, digest_path, data_dir, is_settled=True
    )


def _worktree_of(repository: Repository, folder: str, shell: str) -> Repository:
    """Return the worktree in which a shell is, if it is one of this repository."""
    if not shell or shell == folder or repository.common_dir is None:
        return repository
    other = find_repository(shell)
    return other if other.common_dir == repository.common_dir else repository


def _accepted(repository: Repository, folder: str) -> tuple[Repository, str | None]:
    """Return a repository of this user, or of another one if git uses it too. Any other counts as none: then return the
    folder itself, and a notice if that repository had a memory.
    """
    owner = repository.other_owner
    if owner is None:
        return repository, None
    if _git_accepts(repository):
        return repository.replace(owner=owner), None
    notice = (
        f"git does not use {repository.worktree}, which belongs to another user ({owner}), so its memory is not used "
        f"either; `git config --global --add safe.directory {repository.worktree}` changes that"
    )
    is_known = read_identity(repository.identity_folder) is not None
    return Repository(worktree=os.path.realpath(folder)), notice if is_known else None


def _git_accepts(repository: Repository) -> bool:
    """Return whether git uses a repository of another user: `safe.directory` of this user or of the system names it."""
    from unified_state.project.git_command import run_git  # hardly any repository belongs to another user

    end = time.monotonic() + _GIT_SECONDS
    return run_git(repository.worktree, ("rev-parse", "--git-dir"), environment(), end) is not None


def _usable_beside(repository: Repository, *, create: bool) -> str | None:
    """Return our folder beside the state file, which `create` makes; None if there is none that may be used. With
    `create`, raises StorageError for one that others may write to.
    """
    beside = os.path.join(repository.worktree, ".claude", "unified-state")
    if not os.path.isdir(beside):
        return beside if create and _make_private(beside) else None
    reason = not_ours(os.lstat(beside), *filter(None, [repository.owner]))
    if reason and create:
        message = f"{beside} is not used: {reason}"
        raise StorageError(message, "remove it, or make it yours alone")
    return None if reason else beside


def hook_settings(place: Place, data_dir: str, environ: Mapping[str, str]) -> Settings:
    """Return the settings in force for a hook in a place."""
    settings = load_settings(place.repository.worktree, environ, place.repository.owner)
    settings.data_dir = data_dir
    return settings


def _note(repository: Repository, folder: str, notice: str | None) -> None:
    """Note beside the archive that this checkout uses it, and a notice that the next session starts show."""
    from unified_state.lib.times import current_time
    from unified_state.project.health import IDENTITY, HookRun, note_run
    from unified_state.project.identity import remember

    remember(repository, folder)
    if notice is not None:
        with suppress(OSError):  # the folder is read-only; the caller of `locate` shows the notice
            note_run(folder, HookRun(IDENTITY, current_time(), 0, notice))


def history_path(place: Place, tier: str) -> str:
    """Return the path of a place's history, the archive or a journal. The tier counts where both or none are there."""
    paths = [place.archive_path, os.path.join(place.folder, JOURNAL)]
    paths = paths[::-1] if tier == "json" else paths
    return next(filter(os.path.exists, paths), paths[0])


def has_reminders(place: Place) -> bool:
    """Return whether the user turned reminders on in a worktree. Every hook asks."""
    return os.path.exists(os.path.join(place.folder, REMINDERS_ON))


def wants_rules_file(place: Place) -> bool:
    """Return whether the user asked for rules files in this repository."""
    return os.path.exists(os.path.join(place.folder, RULES_FILES))


def beside_state_file(place: Place) -> str:
    """Return the path of our folder beside the state file."""
    return os.path.join(place.repository.worktree, ".claude", "unified-state")


def digest_path_of(folder: str, state_path: str) -> str:
    """Return the path of the digest of the last content that we wrote into a state file."""
    return os.path.join(folder, f"state-{crc32(os.fsencode(state_path)):08x}.sha256")


def _make_private(folder: str) -> bool:
    """Create a folder that only the user can read, with its parents, and return whether it is writable."""
    try:
        parent = os.path.dirname(folder)
        if not os.path.isdir(parent):
            _make_private(parent)
        os.mkdir(folder, 0o700)
    except FileExistsError:
        return os.access(folder, os.W_OK)
    except OSError:
        return False
    return True


def _could_be_made(folder: str) -> bool:
    """Return whether a folder is writable, or could be made. Then what lies beside the state file is not ours: a clone
    may bring it.
    """
    folder = os.path.abspath(folder)
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    return os.path.isdir(folder) and os.access(folder, os.W_OK)


def session_project(session_id: str | None, environ: Mapping[str, str], data_dir: str, shell: str = "") -> str:
    """Return the folder of a session's project, or else that of its shell; "" without one that exists. A session that
    begins has no id here.
    """
    folders = (environ.get(PROJECT_VARIABLE, ""), *_kept_projects(data_dir, session_id), shell)
    return next(filter(os.path.isdir, folders), "")


def keep_project(session_id: str, project: str, place: Place, data_dir: str) -> None:
    """Keep the folder of a session's project, for its commands and later events."""
    common_dir = place.repository.common_dir
    kept = [project, *([os.path.dirname(common_dir)] if common_dir else [])]  # for a linked worktree that is removed
    if not session_id or _kept_projects(data_dir, session_id) == kept:
        return
    with suppress(OSError):  # the data folder is read-only; commands belong to the folder of the shell then
        write_session_file(session_file(data_dir, SESSIONS_FOLDER, session_id), dump_ascii_json(kept))


def drop_project(session_id: str, data_dir: str) -> None:
    """Forget the project of a session that ended: a terminal that it opened may go on, with its id."""
    with suppress(OSError):  # there is none
        os.unlink(session_file(data_dir, SESSIONS_FOLDER, session_id))


def _kept_projects(data_dir: str, session_id: str | None) -> list[str]:
    path = session_file(data_dir, SESSIONS_FOLDER, session_id or "")
    try:
        return list(map(str, parse_json(read_regular(path, SMALL_FILE).decode())))
    except (OSError, ValueError, TypeError):
        return []
