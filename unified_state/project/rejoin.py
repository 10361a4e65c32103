"""Which folders use an archive, as a file beside it says, and whether a folder without its identity file gets its
archive back.

Invariant: a clone or a copy never takes another checkout's memory. A folder is rejoined automatically only if it is the
same folder: same path, device and inode, same first commit, and no other checkout that uses the archive. Otherwise the
archive is a candidate, which the user joins with `unified-state link`.
"""

from __future__ import annotations

import os
from typing import Protocol

from unified_state.errors import StorageError
from unified_state.lib.files import write_note
from unified_state.lib.json_text import dump_ascii_json, parse_json
from unified_state.lib.read_files import SMALL_FILE, read_regular
from unified_state.lib.record import Record
from unified_state.project.find_repository import ABOUT, Identity, Repository, read_head, read_identity
from unified_state.settings import environment

_TEXTS, _NUMBERS = ("worktree", "first_commit", "remote"), ("device", "inode")


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


class Checkout(Record):
    """A folder that uses an archive.

    `place` is the folder of its identity file. `device` and `inode` are those of the repository's own folder, where the
    file system has them. `first_commit` is "" if there was none yet, `remote` without an `origin`.
    """

    id: str
    place: str
    worktree: str
    device: int = 0
    inode: int = 0
    first_commit: str = ""
    remote: str = ""

    def is_same_folder(self, other: Checkout) -> bool:
        """Return whether both are the same folder, though it may have been renamed."""
        return self.inode != 0 and (self.device, self.inode) == (other.device, other.inode)


def all_checkouts(data_dir: str) -> list[Checkout]:
    """Return the checkouts of all archives, those of the archive first that was noted last."""
    folder = os.path.join(data_dir, "repositories")
    paths = [os.path.join(folder, name) for name in (os.listdir(folder) if os.path.isdir(folder) else ())]
    noted = [path for path in paths if os.path.isfile(os.path.join(path, ABOUT))]
    noted.sort(key=lambda path: os.stat(os.path.join(path, ABOUT)).st_mtime_ns, reverse=True)
    return [checkout for path in noted for checkout in checkouts_of(path)]


def checkouts_of(folder: str) -> list[Checkout]:
    """Return the checkouts that use the archive in a folder."""
    name = os.path.basename(folder)
    try:
        told = parse_json(read_regular(os.path.join(folder, ABOUT), SMALL_FILE).decode())["checkouts"]
        found = [Checkout(id=name, place=place, **fields) for place, fields in told.items()]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []
    return [one for one in found if name.isalnum() and _is_whole(one)]


def _is_whole(checkout: Checkout) -> bool:
    return all(isinstance(getattr(checkout, name), str) for name in _TEXTS) and all(
        isinstance(getattr(checkout, name), int) for name in _NUMBERS
    )


class Registry:
    """What the archives of a data folder say of one repository. Without a data folder there is nothing."""

    def __init__(self, data_dir: str, repository: Repository) -> None:
        self._repository = repository
        self._now = present(repository, "")
        self._all = all_checkouts(data_dir) if data_dir else []
        self._known = next((one for one in self._all if one.place == self._now.place), None)

    def own_id(self) -> str | None:
        """Return the id of the archive that this folder used, or None if a check objects."""
        return self._known.id if self._known is not None and self._objection(self._known) is None else None

    def lost(self) -> str | None:
        """Return a notice with the reason why the folder's former archive is not joined automatically; None if there
        was none.
        """
        known = self._known
        if known is None:
            return None
        why = self._objection(known) or "the file that names it cannot be used"
        told = f"this folder used archive {known.id}, which is not joined by itself: {why}"
        return f"{told}; `unified-state link {known.id}` joins it"

    def is_original(self, identity: Identity) -> bool:
        """Return whether the folder that an identity names is still the same folder, by device and inode."""
        marks = _folder_marks(identity.place)
        named = (one for one in self._all if (one.id, one.place) == (identity.id, identity.place))
        return any(one.inode and (one.device, one.inode) == marks for one in named)

    def _objection(self, known: Checkout) -> str | None:
        """Return the reason why this may be another repository; None if every check passes."""
        from unified_state.project.first_commit import has_commit

        if known.inode and not known.is_same_folder(self._now):
            return "the folder is another one than then"
        if not has_commit(self._repository, known.first_commit, environment()):
            return "the first commit is another one than then"
        for other in self._all:
            if other.id == known.id and other.place != known.place:
                found = read_identity(other.place)
                if found is not None and found.id == known.id:
                    return f"{other.worktree} uses it"
        return None


def present(repository: Repository, archive: str) -> Checkout:
    """Return a repository as a checkout that uses an archive, as it is now, without its first commit."""
    place = repository.identity_folder
    device, inode = _folder_marks(place)
    return Checkout(archive, place, repository.worktree, device, inode, remote=remote_of(repository) or "")


def _folder_marks(place: str) -> tuple[int, int]:
    """Return device and inode of a repository's own folder: the git common dir, or outside git the folder that holds
    `.claude`. They are zeros if it is gone or the file system has none.
    """
    try:
        found = os.stat(os.path.dirname(place) if os.path.basename(place) == ".claude" else place)
    except (OSError, ValueError):  # ValueError: a NUL in a damaged record
        return 0, 0
    return found.st_dev, found.st_ino


def remember(place: Located, *, anew: bool = False) -> None:
    """Record beside the archive that this checkout uses it, if that is not recorded already.

    The first commit is looked up for the first record, and with `anew`. Nothing is recorded without a writable data
    folder, because the archive then is in the worktree itself.
    """
    if place.key_folder == place.folder:
        return
    others = {one.place: one for one in checkouts_of(place.folder)}
    now = present(place.repository, place.id or "")
    known = others.get(now.place)
    if known is not None:
        now = now.replace(first_commit=known.first_commit)
    if (anew or known is None) and not now.first_commit and read_head(place.repository)[0] is not None:
        from unified_state.project.first_commit import first_commit

        now = now.replace(first_commit=first_commit(place.repository, environment()))
    if not anew and known is not None and now.replace(worktree=known.worktree) == known:
        return  # worktrees of one repository take turns
    told = {one.place: {name: getattr(one, name) for name in (*_TEXTS, *_NUMBERS)} for one in (*others.values(), now)}
    try:
        write_note(os.path.join(place.folder, ABOUT), dump_ascii_json({"checkouts": told}).encode())
    except (OSError, StorageError):
        return


def remote_of(repository: Repository) -> str | None:
    """Return the URL of `origin` in the repository's configuration, without user name and password."""
    if repository.common_dir is None:
        return None
    try:
        path = os.path.join(repository.common_dir, "config")
        lines = read_regular(path, SMALL_FILE).decode("utf-8", "surrogateescape").splitlines()
    except OSError:
        return None
    section = ""
    for line in lines:
        stripped = line.strip()
        if stripped.startswith("["):
            section = stripped
        elif section == '[remote "origin"]' and stripped.split("=")[0].strip() == "url":
            return _without_user(stripped.split("=", 1)[1].strip())
    return None


def _without_user(url: str) -> str:
    """Return the URL without `user:password@`."""
    scheme, separator, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    return f"{scheme}{separator}{authority.rpartition('@')[2]}{slash}{path}"
