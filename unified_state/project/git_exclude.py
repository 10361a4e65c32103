"""The repository's own exclude file (`.git/info/exclude`), which is never committed. It keeps our files out of `git
status`. Our lines stand between two marks, so no other line is ever removed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from unified_state.lib.files import write_atomically
from unified_state.lib.read_files import LARGE_FILE, read_regular
from unified_state.project.place import Place

_BEGIN, _END = "# unified-state begins\n", "# unified-state ends\n"


def exclude_from_git(place: Place, names: Iterable[str], folder: str = ".claude/") -> None:
    """Add our files in a folder of the worktree to the exclude file."""
    if place.repository.common_dir is None:
        return
    path = os.path.join(place.repository.common_dir, "info", "exclude")
    if os.path.lexists(path) and not os.path.isfile(path):
        return  # a named pipe would block
    try:
        present = _read(path)
        missing = [f"{folder}{name}\n" for name in names if f"{folder}{name}" not in present.splitlines()]
        if missing:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "a", encoding="utf-8", errors="surrogateescape") as file:
                file.write(("" if present.endswith("\n") or not present else "\n") + "".join([_BEGIN, *missing, _END]))
    except OSError:
        return  # a repository that cannot be written to has nothing to hide from git either


def include_in_git(place: Place) -> None:
    """Remove our lines, unless other worktrees share them. Raises StorageError."""
    common_dir = place.repository.common_dir
    if common_dir is None or os.path.isdir(os.path.join(common_dir, "worktrees")):
        return
    path = os.path.realpath(os.path.join(common_dir, "info", "exclude"))
    kept, *rest = _read(path).split(_BEGIN)
    if rest:
        kept += "".join(part.partition(_END)[2] for part in rest)
        write_atomically(path, kept.encode("utf-8", "surrogateescape"))


def _read(path: str) -> str:
    try:
        return read_regular(path, LARGE_FILE).decode("utf-8", "surrogateescape")
    except OSError:
        return ""
