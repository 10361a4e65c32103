"""Rejoining: a repository that lost its identity file gets its archive back if no check objects.

Invariant: a clone or a copy never takes another checkout's memory. A folder is rejoined automatically only if it is the
same folder: same path, device and inode, same first commit, and no other checkout that uses the archive. Otherwise the
archive is a candidate, which the user joins with `unified-state link`.
"""

from __future__ import annotations

import os
from typing import Protocol

from unified_state.errors import StorageError
from unified_state.memory.repository.checkouts import Checkout, folder_marks, note_checkout, other_user, read_checkout
from unified_state.memory.repository.find_repository import Identity, Repository, read_head, read_identity
from unified_state.settings import environment


class Located(Protocol):
    """The part of a Place that this module reads."""

    @property
    def repository(self) -> Repository:
        """The repository."""

    @property
    def id(self) -> str | None:
        """The id of the place's archive."""

    @property
    def folder(self) -> str:
        """The folder that holds the archive."""

    @property
    def key_folder(self) -> str:
        """The data folder if it is writable, else the archive's folder."""

    @property
    def copied_from(self) -> str | None:
        """The identity folder of the original if this repository was just found to be a copy."""


class Registry:
    """The data folder's records of one repository."""

    def __init__(self, data_dir: str, repository: Repository) -> None:
        self._data_dir, self._repository = data_dir, repository
        self._place = repository.identity_folder

    def own_id(self) -> str | None:
        """Return the id of the archive that this folder used, or None if a check objects."""
        known = self._known()
        return known.id if known is not None and self._objection(known) is None else None

    def lost(self) -> str | None:
        """Return a notice with the reason why the folder's former archive is not joined automatically; None if there
        was none.
        """
        known = self._known()
        if known is None:
            return None
        why = self._objection(known) or "the file that names it cannot be used"
        told = f"this folder used archive {known.id}, which is not joined by itself: {why}"
        return f"{told}; `unified-state link {known.id}` joins it"

    def is_original(self, identity: Identity) -> bool:
        """Return whether the folder that an identity names is still the same folder, by device and inode."""
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
        """Return the reason why this may be another repository; None if every check passes."""
        if known.is_known_folder and folder_marks(own_folder(self._place)) != (known.device, known.inode):
            return "the folder is another one than then"
        if not self._has_first_commit(known):
            return "the first commit is another one than then"
        other = other_user(self._data_dir, known.id, self._place)
        return None if other is None else f"{other.worktree} uses it"

    def _has_first_commit(self, known: Checkout) -> bool:
        from unified_state.memory.repository.first_commit import has_commit

        return has_commit(self._repository, known.first_commit, environment())


def former_archive(place: Located) -> str:
    """Return the id of the archive that this folder used before, or of the checkout that it is a copy of; else ""."""
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
    """Return the repository's own folder: the git common dir, or outside git the folder that holds `.claude`."""
    return os.path.dirname(place) if os.path.basename(place) == ".claude" else place


def remember(place: Located, *, anew: bool = False) -> None:
    """Record which archive this checkout uses, if that is not recorded already.

    The first commit is looked up for the first record of an archive, and with `anew`. Nothing is recorded without a
    writable data folder, because the archive then is in the worktree itself.
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

        now = now.replace(first_commit=first_commit(place.repository, environment()))
    if known is not None and now.replace(worktree=known.worktree) == known:
        return  # worktrees of one repository take turns
    try:
        note_checkout(data_dir, now)
    except (OSError, StorageError):
        return
