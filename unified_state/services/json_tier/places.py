"""Where histories in files of JSON lie, and whether there are any: every use of an archive asks that first."""

from __future__ import annotations

import os

from unified_state.errors import StorageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.services.place import Place

FOLDER = "json"
MERGED = ".merged-"  # in the name of a folder that is in the archive and about to go


def project_of(place: Place) -> str:
    """The name of a place's project in a folder of histories."""
    return place.id or "unknown"


def waiting_folders(place: Place) -> list[str]:
    """The folders in which there is a history, or what is left of one that was merged."""
    folders = [os.path.join(place.folder, FOLDER)]
    if os.path.isdir(_own_folder(place)):
        folders += [folder for folder in (folder_beside(place),) if folder and folder not in folders]
    project = project_of(place)
    return [folder for folder in folders if project in (names := _names(folder)) or _merged(names, project)]


def merged_folders(folder: str, project: str) -> list[str]:
    """What is left of histories that are in the archive by now."""
    return [os.path.join(folder, name) for name in _merged(_names(folder), project)]


def _merged(names: list[str], project: str) -> list[str]:
    return [name for name in names if name.startswith(f"{project}{MERGED}")]


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _own_folder(place: Place) -> str:
    return os.path.join(place.repository.worktree, ".claude", "unified-state")


def folder_beside(place: Place) -> str | None:
    """The folder beside the state file. Its name has a part that only this user can compute: a history that came with
    somebody's repository must not be taken for ours. None where that part cannot be had.
    """
    from unified_state.services.masking import Masker

    try:
        tag = Masker(place.key_folder).tag(f"history of {place.repository.worktree}")
    except StorageError:
        return None
    return os.path.join(_own_folder(place), f"{FOLDER}-{tag}")
