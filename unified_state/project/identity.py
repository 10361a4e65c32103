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
from unified_state.lib.files import FileLock, create_once, set_aside, write_atomically
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
    read_identity,
)
from unified_state.project.rejoin import Registry

_LOCK_SECONDS = 2.0


def known_identity(folder: str, registry: Registry) -> Identity | None:
    """Return the recorded identity of a repository; None for a copy, which gets an identity of its own."""
    recorded, trouble = examine(folder)
    if trouble == FOREIGN:
        return _beside_foreign(folder, registry)
    if recorded is not None:
        return None if _is_copy(folder, recorded, registry) else recorded
    own = registry.own_id()
    if own is not None:
        return Identity(id=own, place=folder, notice=_rejoined(folder, trouble, own))
    is_writable = os.access(folder if os.path.isdir(folder) else os.path.dirname(folder), os.W_OK)
    return None if is_writable or trouble != MISSING else _derived(folder)


def ensure_identity(folder: str, registry: Registry | None = None) -> Identity:
    """Return the identity of the repository whose files are in a folder, and create it if it has none.

    It is the recorded one, else that of the archive which the registry has for this folder, else a new one. If the
    folder is read-only, the id is derived from its path. Raises StorageError for an identity that exists but cannot be
    read, if the registry has no record of it.
    """
    registry = registry or Registry("", Repository(folder))
    recorded, trouble = examine(folder)
    if recorded is not None and recorded.place == folder:
        return recorded
    if trouble == FOREIGN:
        return _beside_foreign(folder, registry)
    try:
        created = _create(folder, registry) if trouble == MISSING else None
        return created or _settle(folder, registry)
    except (OSError, StorageError):
        if trouble == UNREADABLE:
            raise
        return recorded or known_identity(folder, registry) or _unwritable(folder, trouble)


def _create(folder: str, registry: Registry) -> Identity | None:
    """Create the identity file with the lost identity or a new one; return None if the file exists already."""
    os.makedirs(folder, exist_ok=True)
    identity = _found(folder, registry, MISSING)
    return identity if create_once(os.path.join(folder, ID_FILE), _encoded(identity)) else None


def _settle(folder: str, registry: Registry) -> Identity:
    """Return the identity for a file that does not belong to this folder: of a copy, a moved folder, or unreadable.

    A lock makes one process write it while the others find the result.
    """
    with FileLock(os.path.join(folder, ID_FILE + ".lock"), _LOCK_SECONDS):
        recorded, trouble = examine(folder)
        if recorded is None:
            return _mended(folder, registry, trouble)
        if recorded.place == folder or _is_same_folder(recorded.place, folder):
            return recorded
        if _is_copy(folder, recorded, registry):
            return write_identity(folder, Identity(id=_random_id(), place=folder, copied_from=recorded.place))
        return write_identity(folder, recorded.replace(place=folder))  # moved


def _mended(folder: str, registry: Registry, trouble: str) -> Identity:
    """Return the identity that replaces an unusable one. A damaged file is set aside, never deleted."""
    identity = _found(folder, registry, trouble)
    if trouble == UNREADABLE:
        if identity.notice is None:
            message = f"{os.path.join(folder, ID_FILE)} cannot be read"
            raise StorageError(message, "make it readable for you; it says which archive belongs to this folder")
        return identity
    if trouble == DAMAGED:
        aside = set_aside(os.path.join(folder, ID_FILE))
        told = identity.notice or f"{os.path.join(folder, ID_FILE)} was damaged; this folder has a new archive"
        identity = identity.replace(notice=f"{told}; the damaged file was set aside as {aside}")
    path = os.path.join(folder, ID_FILE)
    if os.path.lexists(path):  # still under its first name, so that no process finds it missing and makes another one
        return write_identity(folder, identity)
    return identity if create_once(path, _encoded(identity)) else read_identity(folder) or identity


def _found(folder: str, registry: Registry, trouble: str) -> Identity:
    """Return the identity that the registry has for the folder, or a new one."""
    own = registry.own_id()
    if own is None:
        return Identity(id=_random_id(), place=folder)
    return Identity(id=own, place=folder, notice=_rejoined(folder, trouble, own))


def _rejoined(folder: str, trouble: str, own: str) -> str:
    return f"{os.path.join(folder, ID_FILE)} was {trouble}; archive {own} was found again by its folder"


def _is_copy(folder: str, recorded: Identity, registry: Registry) -> bool:
    """Return whether this folder is a copy: the folder that the identity names is still a repository of its own."""
    if recorded.place == folder or _is_same_folder(recorded.place, folder) or "\0" in recorded.place:
        return False
    return read_identity(recorded.place) == recorded or registry.is_original(recorded)


def _is_same_folder(one: str, other: str) -> bool:
    """Return whether two paths lead to the same folder, for example one that is mounted twice."""
    try:
        return os.path.samefile(one, other)
    except (OSError, ValueError):  # ValueError: a NUL in a damaged record
        return False


def write_identity(folder: str, identity: Identity) -> Identity:
    """Write the identity of the repository whose files are in a folder. A folder in place of the file is set aside."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, ID_FILE)
    if os.path.isdir(path) and not os.path.islink(path):
        set_aside(path)
    write_atomically(path, _encoded(identity))
    return identity


def _encoded(identity: Identity) -> bytes:
    # ASCII, because the name of a folder may be any bytes.
    return (dump_ascii_json({"id": identity.id, "place": identity.place}) + "\n").encode()


def _random_id() -> str:
    return os.urandom(8).hex()


def _unwritable(folder: str, trouble: str) -> Identity:
    derived = _derived(folder)
    if trouble != DAMAGED:
        return derived
    told = f"{os.path.join(folder, ID_FILE)} is damaged and cannot be set aside; archive {derived.id} is used meanwhile"
    return derived.replace(notice=told)


def _beside_foreign(folder: str, registry: Registry) -> Identity:
    own = registry.own_id()
    if own is not None:
        return Identity(id=own, place=folder)
    derived = _derived(folder)
    told = f"{os.path.join(folder, ID_FILE)} is not used, because it is not yours alone; archive {derived.id} is used"
    return derived.replace(notice=told)


def _derived(folder: str) -> Identity:
    return Identity(id=sha256(os.fsencode(folder)).hexdigest()[:16], place=folder)
