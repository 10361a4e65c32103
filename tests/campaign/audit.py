"""What the product does to the machine while it runs inside this process: files changed, programs started, connections.

Python reports each such step to an audit hook, so nothing that the product does through Python escapes it. SQLite's own
files lie beside the database that was opened.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# What the product may change, by its path in the world. The folder of a repository may be any.
ALLOWED = re.compile(
    r"home/\.local/share/unified-state(/.*)?"
    r"|home/\.local(/share)?"
    r"|tmp/(unified-state-.*)?"
    r"|.*/\.claude"
    r"|.*/\.claude/(\.?unified-(session-state|state-id)|settings\.local\.json).*"
    r"|.*/\.?unified-state-id.*"
    r"|.*/info(/exclude.*)?",
    re.DOTALL,
)
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# The events that change a path, and where their paths stand among the arguments.
_CHANGES = {
    "os.chmod": (0,), "os.chown": (0,), "os.link": (1,), "os.mkdir": (0,), "os.remove": (0,), "os.rename": (0, 1),
    "os.rmdir": (0,), "os.symlink": (1,), "os.truncate": (0,), "shutil.rmtree": (0,), "sqlite3.connect": (0,),
}  # fmt: skip
_STARTS = {"subprocess.Popen", "os.posix_spawn", "os.exec"}
_NEVER = {"os.system", "socket.connect", "socket.bind", "ftplib.connect", "urllib.Request"}


class Audit:
    """Notes each step that leaves the world `root`. Python cannot remove an audit hook, so there is one a process."""

    def __init__(self) -> None:
        self.root = ""
        self.found: list[str] = []
        self._is_on = False
        sys.addaudithook(self._see)

    @contextmanager
    def watch(self, root: Path) -> Iterator[None]:
        """Note what is done inside the block."""
        self.root, self._is_on = str(root), True
        try:
            yield
        finally:
            self._is_on = False

    def _see(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._is_on:
            return
        self._is_on = False  # looking at a path is no step of the product's
        try:
            self._judge(event, arguments)
        finally:
            self._is_on = True

    def _judge(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], (str, bytes)) and arguments[2] & _WRITES:
            self._change(event, arguments[0])
        elif event in _CHANGES:
            for position in _CHANGES[event]:
                if not _is_in_open_folder(event, arguments):
                    self._change(event, arguments[position])
        elif event in _STARTS:
            self._start(event, os.fsdecode(arguments[0]))
        elif event in _NEVER and not (event == "socket.connect" and "unified-state" in str(arguments[1])):
            self.found.append(f"{event} {arguments!r}"[:300])

    def _change(self, event: str, target: object) -> None:
        if not isinstance(target, (str, bytes)) or target in {"/dev/null", ":memory:", ""}:
            return
        path = os.path.abspath(os.fsdecode(target).removeprefix("file:").partition("?")[0])
        is_nothing = event == "os.mkdir" and os.path.isdir(path)
        if not is_nothing and not is_allowed(os.path.relpath(path, self.root)):
            self.found.append(f"{event} {path}")

    def _start(self, event: str, program: str) -> None:
        if not os.path.isabs(program) or os.path.realpath(program).startswith(self.root):
            self.found.append(f"{event} {program}")


def _is_in_open_folder(event: str, arguments: tuple[Any, ...]) -> bool:
    """Whether a path is relative to an open folder, as those that `shutil.rmtree` removes; the folder was judged."""
    return event in {"os.remove", "os.rmdir"} and arguments[1] != -1


def is_allowed(path: str) -> bool:
    """Whether the product may change a path, given as relative to the world."""
    return not path.startswith("..") and ALLOWED.fullmatch(path) is not None
