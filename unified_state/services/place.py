"""Where things lie for a folder: its repository, the archive, the state file."""

from __future__ import annotations

import os
from zlib import crc32

from unified_state.records.record import Record
from unified_state.sources.repository import Repository, find_repository
from unified_state.storage.identity import ID_FILE, ensure_identity, known_identity

NAME = "unified-session-state.json"
_ARCHIVE = "archive.db"
_JSON = "json"  # the folder of histories in files of JSON
KEY_FILE = "mask.key"
EXCLUDED = (
    NAME,
    "unified-session-state.lock",
    "unified-session-state.damaged-*.json",
    "unified-session-state.*.tmp",  # what a killed process leaves
    "unified-state/",
)


class Place(Record):
    """A worktree's files. `folder` holds what belongs to the repository: the archive, the compiled settings, health.

    `id` is None where nothing was ever recorded; `copied_from` is set when the folder was just found to be a copy. The
    masking key lies in `key_folder`: the data folder, so that all repositories have the same, where that can be had.
    """

    repository: Repository
    id: str | None
    folder: str
    archive_path: str
    state_path: str
    digest_path: str
    key_folder: str
    copied_from: str | None = None


def locate(folder: str, data_dir: str, *, create: bool) -> Place:
    """The place of a folder. Without `create` nothing is written, and a repository without records has no archive
    yet.
    """
    repository = find_repository(folder, os.path.join(".claude", ID_FILE))
    beside = os.path.join(repository.worktree, ".claude", "unified-state")
    identity = (ensure_identity if create else known_identity)(identity_folder(repository))
    home = os.path.join(data_dir, "repositories", identity.id if identity else "unknown")
    key_folder = data_dir
    # Where there is no writable home the archive lies beside the state file; what lies in the home stays the one.
    is_there = os.path.exists(os.path.join(home, _ARCHIVE)) or os.path.isdir(os.path.join(home, _JSON))
    if not is_there and (not _make_private(home) if create else not os.path.isdir(home) and os.path.isdir(beside)):
        home = key_folder = beside
        _make_private(home)
    state_path = os.path.join(repository.worktree, ".claude", NAME)
    return Place(
        repository=repository,
        id=identity.id if identity else None,
        folder=home,
        archive_path=os.path.join(home, _ARCHIVE),
        state_path=state_path,
        digest_path=digest_path_of(home, state_path),
        key_folder=key_folder,
        copied_from=identity.copied_from if identity else None,
    )


def waiting_histories(place: Place) -> list[str]:
    """The folders in which files of JSON hold a history: none, unless something went wrong once, or the tier is or was
    json.
    """
    beside = os.path.join(place.repository.worktree, ".claude", "unified-state")
    if not (os.path.isdir(os.path.join(place.folder, _JSON)) or os.path.isdir(beside)):
        return []
    from unified_state.services.json_tier.places import waiting_folders  # hardly ever, and every hook asks

    return waiting_folders(place)


def digest_path_of(folder: str, state_path: str) -> str:
    """Where the digest lies of what we wrote last into a state file."""
    return os.path.join(folder, f"state-{crc32(os.fsencode(state_path)):08x}.sha256")


def identity_folder(repository: Repository) -> str:
    """Where the file lies that says which archive is a repository's."""
    return repository.common_dir or os.path.join(repository.worktree, ".claude")


def _make_private(folder: str) -> bool:
    """Make a folder that only the user can read, with its parents; whether it can be written to."""
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
