"""The files of a worktree that are not committed, by name and hash, and whether another worktree has the same."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from hashlib import sha256

from unified_state.lib.processes import Excerpt
from unified_state.lib.read_files import read_regular
from unified_state.lib.record import Record
from unified_state.memory.repository.git_state import run_git

SAME, DIFFERS, MISSING, UNKNOWN = "the same here", "different here", "not here", "not compared"
_MOST, _LARGEST = 500, 64 << 20  # files, and bytes of one
_LONGEST_LIST = 4 << 20  # bytes: 500 of the longest names have room
_SECONDS = 10.0
# Submodules are not entered: a repository in one could bring programs along.
_STATUS = ("status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty")


class ChangedContent(Record):
    """A file that is not committed: its path from the top of the worktree, git's two letters, and its SHA-256 (None if
    it is deleted, no regular file, or larger than 64 MiB).
    """

    path: str
    status: str
    sha256: str | None = None


class _Listing(Excerpt):
    """The beginning of a list of git's, and the number of all its entries."""

    count = 0

    def feed(self, piece: bytes) -> None:
        """Count the ends of entries in the next piece, and append it up to the limit."""
        self.count += piece.count(b"\0")
        super().feed(piece)


def changed_contents(worktree: str, environ: Mapping[str, str]) -> tuple[list[ChangedContent], int] | None:
    """Return the files that are not committed, at most 500, and the number of further ones; None if git could not list
    them. A byte of a name that is no UTF-8 is escaped, as in a string of Python.
    """
    listing = _Listing(_LONGEST_LIST)
    end = time.monotonic() + _SECONDS
    told = run_git(worktree, _STATUS, environ, end, encoding="utf-8", answer=listing)
    if told is None:
        return None
    found = [
        ChangedContent(_as_utf8(entry[3:]), entry[:2], hash_of(worktree, entry[3:]))
        for entry in told.split("\0")[:-1][:_MOST]
    ]
    return found, listing.count - len(found)


def _as_utf8(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def compare(worktree: str, file: ChangedContent) -> str:
    """Return whether a worktree has a file with the same content: one of the words above."""
    if not _is_inside(worktree, file.path):
        return UNKNOWN
    is_here = os.path.lexists(os.path.join(worktree, file.path))
    if "D" in file.status and file.sha256 is None:
        return DIFFERS if is_here else SAME
    if not is_here:
        return MISSING
    found = hash_of(worktree, file.path)
    if found is None or file.sha256 is None:
        return UNKNOWN
    return SAME if found == file.sha256 else DIFFERS


def hash_of(worktree: str, path: str) -> str | None:
    """Return the SHA-256 of a regular file in the worktree, or None."""
    if not _is_inside(worktree, path):
        return None
    try:
        return sha256(read_regular(os.path.join(worktree, path), _LARGEST)).hexdigest()
    except OSError:
        return None


def _is_inside(worktree: str, path: str) -> bool:
    """Return whether a path of a file that is no link lies in the worktree, also where folders are links."""
    if not path or "\0" in path or os.path.isabs(path) or os.path.islink(os.path.join(worktree, path)):
        return False
    top = os.path.realpath(worktree)
    folder = os.path.realpath(os.path.dirname(os.path.join(top, path)))
    return os.path.basename(path) not in {"", ".", ".."} and os.path.commonpath([top, folder]) == top
