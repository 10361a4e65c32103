"""The scratch: a temporary database into which a journal is replayed, on an in-memory file system if there is one.

It is in a private folder with a random name, which a note beside the journal records. Every user may write to the
parent folder, so the scratch is used only if its owner and mode are right. If it is lost, the journal is replayed.
"""

from __future__ import annotations

import os
from stat import S_ISDIR, S_ISREG

from unified_state.lib.files import PRIVATE, write_note
from unified_state.lib.stdlib import SMALL_FILE, read_regular
from unified_state.settings import environment

_NOTE = "scratch"  # the file beside the journal
_PREFIX = "unified-state-"
_DATABASE = "archive.db"
_MEMORY = "/dev/shm"  # noqa: S108  # its content is checked before it is used


def find_scratch(folder: str, version: int) -> str | None:
    """Return the path of the database for the journal in a folder; None without a scratch of this version and user."""
    noted = _noted(folder)
    if noted is None or noted[1] != str(version) or not _is_ours(noted[0], S_ISDIR):
        return None
    path = os.path.join(noted[0], _DATABASE)
    return path if _is_ours(path, S_ISREG) else None


def make_scratch(folder: str, version: int) -> str:
    """Replace the scratch by a new one, and return the path of its database. Raises OSError."""
    remove_scratch(folder)
    base = next((base for base in _bases() if os.path.isdir(base) and os.access(base, os.W_OK)), folder)
    path = os.path.join(base, f"{_PREFIX}{os.urandom(8).hex()}")
    # The note comes first, so that a killed process leaves no folder without a note.
    write_note(os.path.join(folder, _NOTE), os.fsencode(f"{version}\n{path}"))
    os.mkdir(path, 0o700)
    database = os.path.join(path, _DATABASE)
    os.close(os.open(database, os.O_CREAT | os.O_EXCL | os.O_RDWR, PRIVATE))
    return database


def remove_scratch(folder: str) -> None:
    """Remove the scratch of the journal in a folder, and its note."""
    noted = _noted(folder)
    if noted is not None and _is_ours(noted[0], S_ISDIR):
        remove_tree(noted[0])
    if noted is not None:
        os.unlink(os.path.join(folder, _NOTE))


def remove_tree(folder: str) -> None:
    """Remove a folder and everything in it, if it exists. Raises OSError."""
    for below, folders, files in os.walk(folder, topdown=False):
        for name in files:
            os.unlink(os.path.join(below, name))
        for name in folders:
            os.rmdir(os.path.join(below, name))
    if os.path.isdir(folder):
        os.rmdir(folder)


def _bases() -> tuple[str, ...]:
    given = environment().get("TMPDIR")
    return (given,) if given else (_MEMORY, "/tmp")  # noqa: S108


def _noted(folder: str) -> tuple[str, str] | None:
    try:
        version, _, path = os.fsdecode(read_regular(os.path.join(folder, _NOTE), SMALL_FILE)).partition("\n")
    except OSError:
        return None
    is_one = os.path.isabs(path) and os.path.basename(path).startswith(_PREFIX)
    return (path, version) if is_one else None


def _is_ours(path: str, is_kind: object) -> bool:
    """Return whether a path is of that kind (no link), and accessible only to this user."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    is_private = not hasattr(os, "geteuid") or (found.st_uid == os.geteuid() and not found.st_mode & 0o077)
    return bool(is_kind(found.st_mode)) and is_private  # type: ignore[operator]
