"""Which folders use an archive, as a file beside it says, and whether a folder without its identity file gets its
archive back.

Invariant: a clone or a copy never takes another checkout's memory. A folder is rejoined automatically only if it is the
same folder: same path, device and inode, same first commit, and no other checkout that uses the archive. Otherwise the
archive is a candidate, which the user joins with `unified-state link`.
"""

from __future__ import annotations

import os
import time

from unified_state.errors import StorageError
from unified_state.lib.files import write_note
from unified_state.lib.json_text import dump_ascii_json, parse_json
from unified_state.lib.read_files import SMALL_FILE, read_regular
from unified_state.lib.record import Record
from unified_state.project.find_repository import ABOUT, Identity, Repository, read_head, read_identity
from unified_state.settings import environment

_NUMBERS = ("device", "inode")
_SECONDS = 1.0  # limit for a walk through the whole history


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
    return [
        one
        for one in found
        if name.isalnum()
        and all(isinstance(value, int if field in _NUMBERS else str) for field, value in one.as_dict().items())
    ]


class Registry:
    """What the archives of a data folder say of one repository.

    `own_id` is that of the archive which this folder used, or None if a check objects. Then `lost` is a notice with the
    reason.
    """

    def __init__(self, data_dir: str, repository: Repository) -> None:
        now = present(repository)
        self._all = all_checkouts(data_dir)
        self.own_id: str | None = None
        self.lost: str | None = None
        known = next((one for one in self._all if one.place == now.place), None)
        if known is None:
            return
        objection = self._objection(known, now, repository)
        if objection is None:
            self.own_id = known.id
        else:
            told = f"this folder used archive {known.id}, which is not joined by itself: {objection}"
            self.lost = f"{told}; `unified-state link {known.id}` joins it"

    def is_original(self, identity: Identity) -> bool:
        """Return whether the folder that an identity names is still the same folder, by device and inode."""
        marks = _folder_marks(identity.place)
        named = (one for one in self._all if (one.id, one.place) == (identity.id, identity.place))
        return any(one.inode and (one.device, one.inode) == marks for one in named)

    def _objection(self, known: Checkout, now: Checkout, repository: Repository) -> str | None:
        """Return the reason why this may be another repository; None if every check passes."""
        if known.inode and not known.is_same_folder(now):
            return "the folder is another one than then"
        if not has_commit(repository, known.first_commit):
            return "the first commit is another one than then"
        for other in self._all:
            if other.id == known.id and other.place != known.place:
                found = read_identity(other.place)
                if found is not None and found.id == known.id:
                    return f"{other.worktree} uses it"
        return None


def present(repository: Repository) -> Checkout:
    """Return a repository as a checkout of no archive yet, without what git has to be asked."""
    place = repository.identity_folder
    device, inode = _folder_marks(place)
    return Checkout("", place, repository.worktree, device, inode)


def _folder_marks(place: str) -> tuple[int, int]:
    """Return device and inode of a repository's own folder: the git common dir, or outside git the folder that holds
    `.claude`. They are zeros if it is gone or the file system has none.
    """
    try:
        found = os.stat(os.path.dirname(place) if os.path.basename(place) == ".claude" else place)
    except (OSError, ValueError):  # ValueError: a NUL in a damaged record
        return 0, 0
    return found.st_dev, found.st_ino


def remember(repository: Repository, folder: str) -> None:
    """Record beside the archive in a folder that this checkout uses it."""
    now, path = present(repository), os.path.join(folder, ABOUT)
    told = {one.place: one for one in checkouts_of(folder)}
    known = told.get(now.place)
    try:
        if known is not None and known.first_commit and known.is_same_folder(now):
            os.utime(path)  # the archive that was used last
            return
        told[now.place] = now.replace(first_commit=first_commit(repository), remote=remote_of(repository) or "")
        fields = [name for name in Checkout.names if name not in ("id", "place")]
        content = {"checkouts": {one.place: {name: getattr(one, name) for name in fields} for one in told.values()}}
        write_note(path, dump_ascii_json(content).encode())
    except (OSError, StorageError):
        return  # the folder is read-only


def remote_of(repository: Repository) -> str | None:
    """Return the URL of the repository's `origin`, without user name and password."""
    url = (_ask_git(repository, "config", "--get", "remote.origin.url") or "").strip()
    scheme, separator, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    return f"{scheme}{separator}{authority.rpartition('@')[2]}{slash}{path}" or None


def first_commit(repository: Repository) -> str:
    """Return the root commit that HEAD descends from, the one that sorts first if there are several.

    It is the commit of HEAD if git is missing or exceeds the timeout, and "" without commits.
    """
    head, _ = read_head(repository)
    roots = _ask_git(repository, "rev-list", "--max-parents=0", "HEAD") if head else None
    return min((roots or "").split(), default=head or "")


def has_commit(repository: Repository, commit: str) -> bool:
    """Return whether the repository has a commit. For an empty commit id, return whether it has no commits at all."""
    if not commit:
        return read_head(repository)[0] is None
    return (_ask_git(repository, "cat-file", "-t", commit) or "").strip() == "commit"


def _ask_git(repository: Repository, *question: str) -> str | None:
    if repository.git_dir is None:
        return None
    from unified_state.project.git_command import run_git  # not where all is known

    end = time.monotonic() + _SECONDS
    return run_git(repository.worktree, question, environment(), end)
