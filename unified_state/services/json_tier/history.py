"""Where the history of a project lies that is kept in files of JSON, and what is kept there beside it.

It is the project's only history where the tier is `json`. Where the archive cannot be used for a while it takes what
would have gone there, until it is merged back: beside the archive, or where that cannot be written beside the state
file.
"""

from __future__ import annotations

import os

from unified_state.services.json_tier.places import FOLDER, folder_beside, project_of
from unified_state.storage.tiers.json_desk import Desk
from unified_state.storage.tiers.json_lines import JsonStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.services.place import Place

_PROBE = b"\0" * 8192  # what a disk that is full does not take
_SECONDS = 4.0  # for another writer, who needs milliseconds


class JsonHistory:
    """A history and its desk. `reason` is why the archive is not used, None where it never is."""

    def __init__(self, folder: str, project: str, reason: str | None = None, *, seconds: float = _SECONDS) -> None:
        self.store = JsonStore(folder, project, seconds=seconds)
        self.files = self.store.files
        self.desk = Desk(self.files)
        self.reason = reason

    @property
    def is_fallback(self) -> bool:
        """Whether it only stands in for an archive."""
        return self.reason is not None

    def size(self) -> int:
        """The bytes of all files."""
        total = 0
        for entry in os.scandir(self.files.folder) if os.path.isdir(self.files.folder) else ():
            try:
                total += entry.stat().st_size
            except FileNotFoundError:  # one that is replaced just now
                continue
        return total


def open_history(place: Place, reason: str | None = None) -> JsonHistory:
    """The history of a place; one that stands in for the archive lies where something can be written now."""
    usual = os.path.join(place.folder, FOLDER)
    is_elsewhere = reason is not None and not _takes(usual)
    return JsonHistory((folder_beside(place) if is_elsewhere else None) or usual, project_of(place), reason)


def _takes(folder: str) -> bool:
    """Whether something can be written there: permissions do not tell of a disk that is full."""
    probe = os.path.join(folder, f"probe-{os.getpid()}")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        try:
            with open(probe, "wb") as file:
                file.write(_PROBE)
        finally:
            if os.path.exists(probe):
                os.unlink(probe)
    except OSError:
        return False
    return True
