"""The identity of a repository: a random id in a file of its own, and the list of the folders that use its archive.

The file is in the git common dir, so that all worktrees share it, a moved folder keeps it and `git clean` does not
delete it. Outside git it is in `.claude/`. It also records the folder that it was last seen in. If an id turns up in
another folder while the old one still has it, the folder was copied, and a copy is a repository of its own.

Invariant: a file that cannot be read is never treated as missing. A damaged one is set aside, an unreadable one stays,
and the archive is looked up by its folder before a new id is made. A file that is not this user's alone is neither used
nor touched: the id is that of the lookup, else derived from the folder's path. A clone or a copy never takes another
checkout's memory: the lookup finds only the archive of the very same folder, with the same path, device and inode, the
same first commit, and no other checkout that uses it. Any other is a candidate, which the user joins with
`unified-state config link`.
"""

from __future__ import annotations

import os
import time
from hashlib import sha256

from unified_state.errors import StorageError
from unified_state.lib.files import FileLock, set_aside, write_atomically, write_note
from unified_state.lib.json_text import dump_ascii_json, parse_json
from unified_state.lib.read_files import SMALL_FILE, read_regular
from unified_state.lib.record import Record
from unified_state.project.find_repository import (
    ABOUT,
    DAMAGED,
    FOREIGN,
    ID_FILE,
    MISSING,
    UNREADABLE,
    Identity,
    Repository,
    examine,
    home_of,
    read_head,
    read_identity,
)
from unified_state.settings import environment

_LOCK_SECONDS = 2.0
_NUMBERS = ("device", "inode")
_SECONDS = 1.0  # limit for a walk through the whole history


def identify(repository: Repository, data_dir: str, *, create: bool) -> tuple[Identity | None, str | None]:
    """Return the identity of a repository, and a notice for the user if it was lost or damaged.

    It is the recorded one, else that of the archive which this folder used, else a new one, which `create` records. If
    the folder is read-only, it is derived from its path. With `create`, raises StorageError for an identity that exists
    but cannot be read, if no archive knows the folder.
    """
    folder = repository.identity_folder
    if not create:
        identity, notice, is_new = _find(repository, data_dir)
        return None if is_new else identity, notice
    try:
        with FileLock(os.path.join(folder, ID_FILE + ".lock"), _LOCK_SECONDS):
            return _record(repository, data_dir)
    except (OSError, StorageError):
        identity, notice, is_new = _find(repository, data_dir)
        if identity is None:
            raise
        return _derived(folder) if is_new else identity, notice


def _record(repository: Repository, data_dir: str) -> tuple[Identity, str | None]:
    """Return the identity, which the file has from now on. A damaged file is set aside, never deleted."""
    folder = repository.identity_folder
    path = os.path.join(folder, ID_FILE)
    identity, notice, is_new = _find(repository, data_dir)
    if identity is None:
        message = f"{path} cannot be read"
        raise StorageError(message, "make it readable for you; it says which archive belongs to this folder")
    recorded, trouble = examine(folder)
    if recorded != identity and trouble not in (FOREIGN, UNREADABLE):
        if trouble == DAMAGED:
            new = "; this folder has a new archive" if is_new else ""
            notice = f"{notice}{new}; the damaged file was set aside as {set_aside(path)}"
        write_identity(folder, identity)
    return identity, notice


def _find(repository: Repository, data_dir: str) -> tuple[Identity | None, str | None, bool]:
    """Return the identity, a notice, and whether it is a new one. It is None if the file is there and unreadable."""
    folder = repository.identity_folder
    path = os.path.join(folder, ID_FILE)
    recorded, trouble = examine(folder)
    if recorded is not None and _is_copy(folder, recorded):
        return Identity(id=os.urandom(8).hex(), place=folder), None, True
    own, lost = _look_up(repository, data_dir)
    if recorded is not None:
        has_archive = os.path.isdir(home_of(data_dir, recorded.id))
        if has_archive or own in (None, recorded.id):
            return recorded.replace(place=folder), None if has_archive else lost, False
    if trouble == FOREIGN or (trouble == MISSING and not _is_writable(folder)):
        identity = Identity(id=own, place=folder) if own else _derived(folder)
        told = f"{path} is not used, because it is not yours alone; archive {identity.id} is used"
        is_known = trouble == MISSING or os.path.isdir(home_of(data_dir, identity.id))
        return identity, None if is_known else told, False
    if own is not None:
        was = trouble or "that of an archive that does not exist"
        told = f"{path} was {was}; archive {own} was found again by its folder"
        return Identity(id=own, place=folder), told, False
    notice = "; ".join(filter(None, [f"{path} was {trouble}" if trouble != MISSING else None, lost])) or None
    return None if trouble == UNREADABLE else Identity(id=os.urandom(8).hex(), place=folder), notice, True


def _is_copy(folder: str, recorded: Identity) -> bool:
    """Return whether this folder is a copy: the folder that the identity names still has it."""
    try:
        if recorded.place == folder or os.path.samefile(recorded.place, folder):  # one that is mounted twice
            return False
    except (OSError, ValueError):  # it is gone; ValueError: a NUL in a damaged record
        return False
    return read_identity(recorded.place) == recorded


def _is_writable(folder: str) -> bool:
    return os.access(folder if os.path.isdir(folder) else os.path.dirname(folder), os.W_OK)


def _derived(folder: str) -> Identity:
    return Identity(id=sha256(os.fsencode(folder)).hexdigest()[:16], place=folder)


def write_identity(folder: str, identity: Identity) -> None:
    """Write the identity of the repository whose files are in a folder. A folder in place of the file is set aside."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, ID_FILE)
    if os.path.isdir(path) and not os.path.islink(path):
        set_aside(path)
    # ASCII, because the name of a folder may be any bytes.
    write_atomically(path, (dump_ascii_json({"id": identity.id, "place": identity.place}) + "\n").encode())


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
    notes = [os.path.join(folder, name, ABOUT) for name in (os.listdir(folder) if os.path.isdir(folder) else ())]
    notes = sorted(filter(os.path.isfile, notes), key=os.path.getmtime, reverse=True)
    return [checkout for path in notes for checkout in checkouts_of(os.path.dirname(path))]


def checkouts_of(folder: str) -> list[Checkout]:
    """Return the checkouts that use the archive in a folder."""
    name = os.path.basename(folder)
    try:
        told = parse_json(read_regular(os.path.join(folder, ABOUT), SMALL_FILE).decode())["checkouts"]
        found = [Checkout(id=name, place=place, **fields) for place, fields in told.items()]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []
    return [one for one in found if name.isalnum() and _is_sound(one)]


def _is_sound(checkout: Checkout) -> bool:
    fields = checkout.as_dict().items()
    return all(isinstance(value, int if field in _NUMBERS else str) for field, value in fields)


def _look_up(repository: Repository, data_dir: str) -> tuple[str | None, str | None]:
    """Return the id of the archive that this folder used, or None, with a notice if something is against it."""
    now, checkouts = present(repository), all_checkouts(data_dir)
    known = next((one for one in checkouts if one.place == now.place), None)
    if known is None:
        return None, None
    users = [one for one in checkouts if one.id == known.id and one.place != known.place]
    user = next((one for one in users if (found := read_identity(one.place)) and found.id == known.id), None)
    if known.inode and not known.is_same_folder(now):
        objection = "the folder is another one than then"
    elif not has_commit(repository, known.first_commit):
        objection = "the first commit is another one than then"
    elif user is not None:
        objection = f"{user.worktree} uses it"
    else:
        return known.id, None
    told = f"this folder used archive {known.id}, which is not joined by itself: {objection}"
    return None, f"{told}; `unified-state config link {known.id}` joins it"


def present(repository: Repository) -> Checkout:
    """Return a repository as a checkout of no archive yet, without what git has to be asked.

    Device and inode are those of its own folder: the git common dir, or outside git the folder that holds `.claude`.
    """
    place = repository.identity_folder
    try:
        found = os.stat(repository.common_dir or repository.worktree)
    except OSError:
        return Checkout("", place, repository.worktree)
    return Checkout("", place, repository.worktree, found.st_dev, found.st_ino)


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
