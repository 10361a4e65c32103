"""The identity of a repository: a random id in a file of its own.

It lies in the git common dir, so that all worktrees share it, a moved folder keeps it and `git clean` does not touch
it; outside git in `.claude/`. The file also remembers where it was last seen: an id that turns up elsewhere while the
old place still has it means that the folder was copied, and a copy is a repository of its own.
"""

from __future__ import annotations

import os

from unified_state.errors import StorageError
from unified_state.interpreter import dump_json, parse_json
from unified_state.records.record import Record
from unified_state.storage.atomic_file import create_once, write_atomically

ID_FILE = "unified-state-id"
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
    if recorded is None or recorded.place == folder or read_identity(recorded.place) != recorded:
        return recorded
    return None


def ensure_identity(folder: str) -> Identity:
    """The identity of the repository whose files lie in a folder: the recorded one, or a new one.

    Where the folder cannot be written to, the id follows from its path.
    """
    recorded = read_identity(folder)
    if recorded is not None and recorded.place == folder:
        return recorded
    try:
        if recorded is None:
            return _create(folder)
        original = read_identity(recorded.place)
        if original == recorded:
            return write_identity(folder, Identity(id=_random_id(), place=folder, copied_from=recorded.place))
        return write_identity(folder, recorded.replace(place=folder))  # moved, or seen through another mount
    except (OSError, StorageError):
        return recorded or Identity(id=_derived_id(folder), place=folder)


def _create(folder: str) -> Identity:
    os.makedirs(folder, exist_ok=True)
    identity = Identity(id=_random_id(), place=folder)
    if create_once(os.path.join(folder, ID_FILE), _encoded(identity)):
        return identity
    return read_identity(folder) or write_identity(
        folder, identity
    )  # another process was first, or the file is damaged


def write_identity(folder: str, identity: Identity) -> Identity:
    """Make an identity that of the repository whose files lie in a folder."""
    os.makedirs(folder, exist_ok=True)
    write_atomically(os.path.join(folder, ID_FILE), _encoded(identity))
    return identity


def _encoded(identity: Identity) -> bytes:
    return (dump_json({"id": identity.id, "place": identity.place}) + "\n").encode("utf-8", "surrogateescape")


def _checked(text: object) -> str:
    """An id is the name of a folder of ours, so it must not lead anywhere else."""
    if not isinstance(text, str) or not text.isalnum() or len(text) > 64:  # noqa: PLR2004
        raise ValueError(text)
    return text


def _random_id() -> str:
    return os.urandom(8).hex()


def _derived_id(folder: str) -> str:
    from hashlib import sha256

    return sha256(os.fsencode(folder)).hexdigest()[:16]
