"""Rejoining: a repository whose identity was lost gets its archive back, if nothing speaks against it.

Invariant: a clone or a copy never takes another checkout's memory. By itself only the very folder is rejoined: the
path, device and inode, the first commit, and no other checkout that uses the archive. Otherwise the archive is a
candidate, which the user joins with `unified-state link`.
"""

from __future__ import annotations

import os

from unified_state.errors import StorageError
from unified_state.memory.repository.checkouts import Checkout, folder_marks, note_checkout, other_user, read_checkout
from unified_state.memory.repository.find_repository import read_head, read_identity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from unified_state.memory.repository.find_repository import Identity, Repository

    class Located(Protocol):
        """What is asked of a place here."""

        @property
        def repository(self) -> Repository:
            """The repository."""

        @property
        def id(self) -> str | None:
            """The id of its archive."""

        @property
        def folder(self) -> str:
            """Where its archive lies."""

        @property
        def key_folder(self) -> str:
            """The data folder, where it can be had."""

        @property
        def copied_from(self) -> str | None:
            """What it was just found to be a copy of."""


class Registry:
    """What the data folder knows of one repository."""

    def __init__(self, data_dir: str, repository: Repository) -> None:
        self._data_dir, self._repository = data_dir, repository
        self._place = repository.identity_folder

    def own_id(self) -> str | None:
        """The id of the archive that this folder had, where nothing speaks against it."""
        known = self._known()
        return known.id if known is not None and self._objection(known) is None else None

    def lost(self) -> str | None:
        """Why the archive that this folder had is not joined by itself, and what to do; None where there was none."""
        known = self._known()
        if known is None:
            return None
        why = self._objection(known) or "the file that names it cannot be used"
        told = f"this folder used archive {known.id}, which is not joined by itself: {why}"
        return f"{told}; `unified-state link {known.id}` joins it"

    def is_original(self, identity: Identity) -> bool:
        """Whether the place that an identity names still is the folder that it was given to."""
        known = read_checkout(self._data_dir, identity.place)
        if known is None or known.id != identity.id or not known.is_known_folder:
            return False
        return folder_marks(own_folder(identity.place)) == (known.device, known.inode)

    def _known(self) -> Checkout | None:
        known = read_checkout(self._data_dir, self._place) if self._data_dir else None
        if known is None or not os.path.isdir(os.path.join(self._data_dir, "repositories", known.id)):
            return None
        return known

    def _objection(self, known: Checkout) -> str | None:
        """What speaks against this being the same repository; None if nothing does."""
        if known.is_known_folder and folder_marks(own_folder(self._place)) != (known.device, known.inode):
            return "the folder is another one than then"
        if not self._has_first_commit(known):
            return "the first commit is another one than then"
        other = other_user(self._data_dir, known.id, self._place)
        return None if other is None else f"{other.worktree} uses it"

    def _has_first_commit(self, known: Checkout) -> bool:
        from unified_state.memory.repository.first_commit import has_commit
        from unified_state.settings import environment

        return has_commit(self._repository, known.first_commit, environment())


def former_archive(place: Located) -> str:
    """The id of the archive that this folder used before, or that of what it is a copy of; empty where none is."""
    known = read_checkout(place.key_folder, place.repository.identity_folder)
    former = "" if known is None else known.id if known.id != place.id else known.former
    return former if os.path.exists(os.path.join(place.key_folder, "repositories", former, "archive.db")) else ""


def _former(place: Located, known: Checkout | None) -> str:
    if place.copied_from is not None:
        origin = read_identity(place.copied_from) or read_checkout(place.key_folder, place.copied_from)
        return "" if origin is None else origin.id
    if known is None:
        return ""
    return known.former if known.id == place.id else known.id


def own_folder(place: str) -> str:
    """The folder that is the repository itself: the git common dir, outside git the folder that holds `.claude`."""
    return os.path.dirname(place) if os.path.basename(place) == ".claude" else place


def remember(place: Located, *, anew: bool = False) -> None:
    """Remember which archive this checkout uses, if that is not remembered already. The first commit is looked for with
    the first note of an archive, and `anew`. Nothing is remembered where there is no data folder that could be written
    to: the archive then lies in the worktree itself.
    """
    if place.key_folder == place.folder:
        return
    data_dir, folder = place.key_folder, place.repository.identity_folder
    known = read_checkout(data_dir, folder)
    device, inode = folder_marks(own_folder(folder))
    is_same = known is not None and known.id == place.id
    now = Checkout(
        id=place.id or "",
        place=folder,
        worktree=place.repository.worktree,
        device=device,
        inode=inode,
        first_commit=known.first_commit if known is not None and is_same else "",
        former=_former(place, known),
    )
    if (anew or not is_same) and not now.first_commit and read_head(place.repository)[0] is not None:
        from unified_state.memory.repository.first_commit import first_commit
        from unified_state.settings import environment

        now = now.replace(first_commit=first_commit(place.repository, environment()))
    if known is not None and now.replace(worktree=known.worktree) == known:
        return  # worktrees of one repository take turns
    try:
        note_checkout(data_dir, now)
    except (OSError, StorageError):
        return
