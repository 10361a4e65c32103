"""A view of a working tree for looking up names. It reads files of bounded size for a bounded time, and runs nothing.

Invariant: only regular files inside the tree are read. What cannot be told, or lies beyond the limits, is None, never
"absent".
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from unified_state.lib.read_files import read_regular

_SECONDS = 0.1
_LARGEST = 1 << 19  # bytes of one file


class TreeView:
    """Looks names up in a working tree. Each file is read at most once.

    `has_time` says whether there is time left for one more file.
    """

    def __init__(self, root: str, has_time: Callable[[], bool] = lambda: True) -> None:
        self._root = root
        self._real = ""
        self._has_time = has_time
        self._contents: dict[str, bytes | None] = {}

    def is_at(self, folder: str) -> bool:
        """Return whether a folder is the root of the tree."""
        return bool(folder) and (folder == self._root or os.path.realpath(folder) == self._real_root())

    def is_gone(self, path: str) -> bool:
        """Return whether nothing is at a path in the tree. False also if that cannot be told."""
        if not is_inside(path) or not self._has_time():
            return False
        try:
            os.lstat(os.path.join(self._root, path))
        except (FileNotFoundError, NotADirectoryError):
            return True
        except (OSError, ValueError):
            return False
        return False

    def content(self, path: str) -> bytes | None:
        """Return the content of a text file in the tree, or None."""
        if path not in self._contents:
            self._contents[path] = self._read(path) if is_inside(path) and self._has_time() else None
        return self._contents[path]

    def lacks(self, path: str, word: str) -> bool:
        """Return whether a text file of the tree does not contain an identifier. False if the file cannot be read."""
        content = self.content(path) if word.isascii() and self._has_time() else None
        return content is not None and word.encode() not in content

    def _real_root(self) -> str:
        self._real = self._real or os.path.realpath(self._root)
        return self._real

    def _read(self, path: str) -> bytes | None:
        whole = os.path.join(self._root, path)
        if not os.path.lexists(whole):  # a third of the time of `realpath`, and most files are not there
            return None
        try:
            if not os.path.realpath(whole).startswith(os.path.join(self._real_root(), "")):
                return None
            content = read_regular(whole, _LARGEST)
        except (OSError, ValueError):
            return None
        return None if b"\0" in content else content


def timed_view(root: str, seconds: float = _SECONDS) -> TreeView:
    """Return a view of the working tree for one restore, which looks nothing up after so many seconds."""
    until = time.monotonic() + seconds
    return TreeView(root, lambda: time.monotonic() < until)


def is_inside(path: str) -> bool:
    """Return whether a path cannot lead out of the tree, but by a link."""
    return bool(path) and not os.path.isabs(path) and ".." not in path.replace("\\", "/").split("/")
