"""The identity of a repository: a random id in a file of its own.

The file is in the git common dir, so that all worktrees share it, a moved folder keeps it and `git clean` does not
delete it. Outside git it is in `.claude/`. It also records the folder that it was last seen in. If an id turns up in
another folder while the old one still has it, the folder was copied, and a copy is a repository of its own.

Invariant: a file that cannot be read is never treated as missing. A damaged one is set aside, an unreadable one stays,
and the archive is looked up by its folder before a new id is made. A file that is not this user's alone is neither used
nor touched: the id is that of the lookup, else derived from the folder's path.
"""

from __future__ import annotations

import os
from hashlib import sha256

from unified_state.errors import StorageError
from unified_state.lib.files import FileLock, set_aside, write_atomically
from unified_state.lib.json_text import dump_ascii_json
from unified_state.project.find_repository import (
    DAMAGED,
    FOREIGN,
    ID_FILE,
    MISSING,
    UNREADABLE,
    Identity,
    Repository,
    examine,
    home_of,
    read_identity,
)
from unified_state.project.rejoin import Registry

_LOCK_SECONDS = 2.0


def identify(repository: Repository, data_dir: str, *, create: bool) -> tuple[Identity | None, str | None]:
    """Return the identity of a repository, and a notice for the user if it was lost or damaged.

    It is the recorded one, else that of the archive which this folder used, else a new one, which `create` records. If
    the folder is read-only, it is derived from its path. With `create`, raises StorageError for an identity that exists
    but cannot be read, if no archive knows the folder.
    """
    folder = repository.identity_folder
    registry = Registry(data_dir, repository)
    if not create:
        identity, notice, is_new = _find(folder, data_dir, registry)
        return None if is_new else identity, notice
    try:
        with FileLock(os.path.join(folder, ID_FILE + ".lock"), _LOCK_SECONDS):
            return _record(folder, data_dir, registry)
    except (OSError, StorageError):
        identity, notice, is_new = _find(folder, data_dir, registry)
        if identity is None:
            raise
        return _derived(folder) if is_new else identity, notice


def _record(folder: str, data_dir: str, registry: Registry) -> tuple[Identity, str | None]:
    """Return the identity, which the file has from now on. A damaged file is set aside, never deleted."""
    path = os.path.join(folder, ID_FILE)
    identity, notice, is_new = _find(folder, data_dir, registry)
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


def _find(folder: str, data_dir: str, registry: Registry) -> tuple[Identity | None, str | None, bool]:
    """Return the identity, a notice, and whether it is a new one. It is None if the file is there and unreadable."""
    path, own, lost = os.path.join(folder, ID_FILE), registry.own_id, registry.lost
    recorded, trouble = examine(folder)
    if recorded is not None and _is_copy(folder, recorded, registry):
        return Identity(id=os.urandom(8).hex(), place=folder), None, True
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
    if trouble == UNREADABLE:
        return None, notice, False
    return Identity(id=os.urandom(8).hex(), place=folder), notice, True


def _is_copy(folder: str, recorded: Identity, registry: Registry) -> bool:
    """Return whether this folder is a copy: the folder that the identity names is still a repository of its own."""
    try:
        if recorded.place == folder or os.path.samefile(recorded.place, folder):  # one that is mounted twice
            return False
    except (OSError, ValueError):  # it is gone; ValueError: a NUL in a damaged record
        return False
    return read_identity(recorded.place) == recorded or registry.is_original(recorded)


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
