"""The repository's own exclude file (`.git/info/exclude`), which is never committed. It keeps our files out of `git
status`; uninstalling removes the lines again.

Invariant: lines that we did not add are never removed. A list beside the archive records the lines that we added.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from unified_state.lib.files import write_atomically, write_note
from unified_state.lib.read_files import LARGE_FILE, read_regular
from unified_state.project.place import Place

_LIST = "excluded"


def exclude_from_git(place: Place, names: Iterable[str], folder: str = ".claude/") -> None:
    """Add our files in a folder of the worktree to the exclude file."""
    common_dir = place.repository.common_dir
    if common_dir is None:
        return
    path = _path(common_dir)
    if os.path.lexists(path) and not os.path.isfile(path):
        return  # a named pipe would block
    present = _read(path)
    missing = [line for line in (f"{folder}{name}" for name in names) if line not in present.splitlines()]
    if not missing:
        return
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "a", encoding="utf-8", errors="surrogateescape") as file:
            file.write(("" if present.endswith("\n") or not present else "\n") + _text(missing))
    except OSError:
        return  # a repository that cannot be written to has nothing to hide from git either
    _note(place, [*excluded_lines(place), *missing])


def excluded_lines(place: Place) -> list[str]:
    """Return the lines that we added."""
    return _read(os.path.join(place.folder, _LIST)).splitlines()


def include_in_git(place: Place, lines: Sequence[str]) -> None:
    """Remove those of our lines whose files no longer exist.

    With several worktrees nothing is removed, because they share the lines. Raises StorageError.
    """
    common_dir, worktree = place.repository.common_dir, place.repository.worktree
    if common_dir is None or not lines or os.path.isdir(os.path.join(common_dir, "worktrees")):
        return
    from glob import escape, glob

    unneeded = {line for line in lines if not glob(os.path.join(escape(worktree), line))}
    path = _path(common_dir)
    before = _read(path)
    after = "".join(line for line in before.splitlines(keepends=True) if line.rstrip("\r\n") not in unneeded)
    if after != before:
        write_atomically(os.path.realpath(path), after.encode("utf-8", "surrogateescape"))
    _note(place, [line for line in lines if line not in unneeded])


def _note(place: Place, lines: Sequence[str]) -> None:
    if os.path.isdir(place.folder):
        write_note(os.path.join(place.folder, _LIST), _text(lines).encode("utf-8", "surrogateescape"))


def _path(common_dir: str) -> str:
    return os.path.join(common_dir, "info", "exclude")


def _read(path: str) -> str:
    try:
        return read_regular(path, LARGE_FILE).decode("utf-8", "surrogateescape")
    except OSError:
        return ""


def _text(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
