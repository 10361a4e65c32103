"""Where the history of a project lies that is kept in files of JSON, and what is kept there beside it.

It is the project's only history where the tier is `json`. Where the archive cannot be used for a while it takes what
would have gone there, until it is merged back: beside the archive, or where that cannot be written beside the state
file.
"""

from __future__ import annotations

import os

from unified_state.errors import StorageError
from unified_state.storage.tiers.json_desk import Desk
from unified_state.storage.tiers.json_lines import JsonStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.services.place import Place

FOLDER = "json"
_PROBE = b"\0" * 8192  # what a disk that is full does not take
SECONDS = 4.0  # for another writer, who needs milliseconds


class JsonHistory:
    """A history and its desk. `reason` is why the archive is not used, None where it never is."""

    def __init__(self, folder: str, project: str, reason: str | None = None) -> None:
        self.store = JsonStore(folder, project, seconds=SECONDS)
        self.files = self.store.files
        self.desk = Desk(self.files)
        self.reason = reason

    @property
    def is_fallback(self) -> bool:
        """Whether it only stands in for an archive."""
        return self.reason is not None


def open_history(place: Place, reason: str | None = None) -> JsonHistory:
    """The history of a place; one that stands in for the archive lies where something can be written now."""
    folders = history_folders(place)
    if reason is not None:
        folders = [folder for folder in folders if _takes(folder)] or folders
    return JsonHistory(folders[0], project_of(place), reason)


def project_of(place: Place) -> str:
    """The name of a place's project in a folder of histories."""
    return place.id or "unknown"


def history_folders(place: Place) -> list[str]:
    """The folders in which a history of a place may lie, the usual one first."""
    beside = os.path.join(place.repository.worktree, ".claude", "unified-state")
    return [os.path.join(folder, FOLDER) for folder in dict.fromkeys((place.folder, beside))]


def waiting_folders(place: Place) -> list[str]:
    """The folders in which there is a history."""
    return [folder for folder in history_folders(place) if os.path.isdir(os.path.join(folder, project_of(place)))]


def _takes(folder: str) -> bool:
    """Whether something can be written there: permissions do not tell of a disk that is full."""
    probe = os.path.join(folder, f"probe-{os.getpid()}")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with open(probe, "wb") as file:
            file.write(_PROBE)
    except OSError:
        return False
    finally:
        _remove(probe)
    return True


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
    except OSError as error:
        message = f"{path} cannot be removed: {error.strerror}"
        raise StorageError(message, "remove it by hand") from error
