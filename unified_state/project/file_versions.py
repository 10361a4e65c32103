"""The versions of a worktree's files, by which a later change of a file is detected.

A version is the file's git blob id, computed here from its bytes, with its size. Versions are compared only with each
other, since git may store other line endings. Only regular files inside the worktree count, up to a size limit.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable

from unified_state.lib.read_files import read_regular

_LARGEST = 1 << 20


def file_versions(worktree: str, paths: Iterable[str]) -> dict[str, str]:
    """Return the versions of the files that exist. Paths are relative to the worktree."""
    versions = {}
    for path in paths:
        found = _stat(worktree, path)
        if found is not None and found.st_size <= _LARGEST:
            blob = _blob(os.path.join(worktree, path))
            if blob:
                versions[path] = f"{blob} {found.st_size}"
    return versions


def changed_since(worktree: str, path: str, version: str) -> bool | None:
    """Return whether a file differs from a version; None if it no longer exists."""
    found = _stat(worktree, path)
    if found is None:
        return None
    blob, size = [*version.split(" "), ""][:2]
    return str(found.st_size) != size or _blob(os.path.join(worktree, path)) != blob


def _stat(worktree: str, path: str) -> os.stat_result | None:
    if os.path.isabs(path) or ".." in path.replace("\\", "/").split("/"):
        return None
    try:
        found = os.lstat(os.path.join(worktree, path))
    except (OSError, ValueError):  # ValueError: not a valid path on any file system
        return None
    return found if stat.S_ISREG(found.st_mode) else None


def _blob(path: str) -> str:
    """Return the id that git gives these bytes; "" if they cannot be read."""
    from hashlib import sha1  # 3 ms that most hooks do without

    try:
        content = read_regular(path, _LARGEST + 1)
    except OSError:
        return ""
    return sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
