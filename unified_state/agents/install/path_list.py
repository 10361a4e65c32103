"""Lists of settings files in the data folder, for what a settings file itself cannot say.

A list that becomes empty is deleted, so that nothing stays after the last uninstallation.
"""

from __future__ import annotations

import os

from unified_state.lib.files import write_atomically
from unified_state.lib.stdlib import SMALL_FILE, dump_ascii_json, parse_json, read_regular


class PathList:
    """One list: a small JSON file of the data folder."""

    def __init__(self, name: str) -> None:
        self.name = name

    def has(self, data_dir: str, path: str) -> bool:
        """Return whether the list has a path."""
        return path in self._read(data_dir)

    def add(self, data_dir: str, path: str) -> None:
        """Add a path. Raises StorageError."""
        os.makedirs(data_dir, mode=0o700, exist_ok=True)
        self._write(data_dir, {*self._read(data_dir), path})

    def remove(self, data_dir: str, path: str) -> None:
        """Remove a path. Raises StorageError."""
        known = self._read(data_dir)
        if path in known:
            self._write(data_dir, known - {path})

    def _read(self, data_dir: str) -> set[str]:
        try:
            return set(map(str, parse_json(read_regular(os.path.join(data_dir, self.name), SMALL_FILE).decode())))
        except (OSError, ValueError, TypeError):
            return set()  # without a usable list, no file counts as listed

    def _write(self, data_dir: str, paths: set[str]) -> None:
        path = os.path.join(data_dir, self.name)
        if paths:
            write_atomically(path, dump_ascii_json(sorted(paths)).encode())
        else:
            os.unlink(path)


CREATED = PathList("created-settings.json")  # settings files that did not exist before we wrote them
WITHOUT_SKILL = PathList("without-skill.json")  # settings files whose user wants our hooks and not our skill
