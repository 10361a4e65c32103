"""The identity of a repository: a random id in a file of its own.

It lies in the git common dir, so that all worktrees share it, a moved folder keeps it and `git clean` does not touch
it; outside git in `.claude/`. The file also remembers where it was last seen: an id that turns up elsewhere while the
old place still has it means that the folder was copied, and a copy is a repository of its own.
"""

from __future__ import annotations

import os

from unified_state.errors import StorageError
from unified_state.interpreter import dump_ascii_json, parse_json
from unified_state.records.record import Record
from unified_state.storage.atomic_file import create_once, write_atomically

ID_FILE = "unified-state-id"
_LOCK_SECONDS = 2.0
_SMALL = 1 << 16


class Identity(Record):
    """Who a repository is. `copied_from` is set once, when its folder is found to be a copy of another one."""

    id: str
    place: str
    copied_from: str | None = None


def read_identity(folder: str) -> Identity | None:
    """The identity that lies in a folder, or None."""
    try:
        with open(os.path.join(folder, ID_FILE), encoding="utf-8", errors="replace") as file:
            content = parse_json(file.read(_SMALL))
        return Identity(id=_checked(content["id"]), place=str(content["place"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def known_identity(folder: str) -> Identity | None:
    """The identity by which a repository is known already; None for a copy, which is to become one of its own."""
    recorded = read_identity(folder)
    if recorded is None:
        is_writable = os.access(folder if os.path.isdir(folder) else os.path.dirname(folder), os.W_OK)
        return None if is_writable else _derived(folder)
    is_copy = recorded.place != folder and read_identity(recorded.place) == recorded
    return None if is_copy else recorded


def ensure_identity(folder: str) -> Identity:
    """The identity of the repository whose files lie in a folder: the recorded one, or a new one.

    Where the folder cannot be written to, the id follows from its path.
    """
    recorded = read_identity(folder)
    if recorded is not None and recorded.place == folder:
        return recorded
    try:
        created = _create(folder) if recorded is None else None
        return created or _settle(folder)
    except (OSError, StorageError):
        return recorded or _derived(folder)


def _create(folder: str) -> Identity | None:
    """A new identity; None where there is a file already."""
    os.makedirs(folder, exist_ok=True)
    identity = Identity(id=_random_id(), place=folder)
    return identity if create_once(os.path.join(folder, ID_FILE), _encoded(identity)) else None


def _settle(folder: str) -> Identity:
    """The identity where there is a file that is not this folder's own: of a copy, of a folder that moved, or damaged.
    Of several processes one writes it, and the others find it.
    """
    from unified_state.storage.lock import FileLock  # hardly ever needed

    with FileLock(os.path.join(folder, ID_FILE + ".lock"), _LOCK_SECONDS):
        recorded = read_identity(folder)
        if recorded is None:
            return write_identity(folder, Identity(id=_random_id(), place=folder))
        if recorded.place == folder:
            return recorded
        if read_identity(recorded.place) == recorded:
            return write_identity(folder, Identity(id=_random_id(), place=folder, copied_from=recorded.place))
        return write_identity(folder, recorded.replace(place=folder))  # moved, or seen through another mount


def write_identity(folder: str, identity: Identity) -> Identity:
    """Make an identity that of the repository whose files lie in a folder."""
    os.makedirs(folder, exist_ok=True)
    write_atomically(os.path.join(folder, ID_FILE), _encoded(identity))
    return identity


def _encoded(identity: Identity) -> bytes:
    return (dump_ascii_json({"id": identity.id, "place": identity.place}) + "\n").encode()  # any name of a folder


def _checked(text: object) -> str:
    """An id is the name of a folder of ours, so it must not lead anywhere else."""
    if not isinstance(text, str) or not text.isalnum() or len(text) > 64:  # noqa: PLR2004
        raise ValueError(text)
    return text


def _random_id() -> str:
    return os.urandom(8).hex()


def _derived(folder: str) -> Identity:
    from hashlib import sha256  # only where a folder cannot be written to

    return Identity(id=sha256(os.fsencode(folder)).hexdigest()[:16], place=folder)
