"""The interpreter that our hooks are called by: the one that runs this, or another one where it has no SQLite."""

from __future__ import annotations

import os
import sys

from unified_state.lib.stdlib import NO_SQLITE, has_sqlite
from unified_state.settings import environment

_NAMES = ("python3", "python3.14", "python3.13", "python3.12", "python3.11", "python")
_FOLDERS = ("/usr/local/bin", "/usr/bin", "/opt/homebrew/bin")  # beside the PATH's
_SECONDS = 10
_ASK = "import _sqlite3, sys; sys.exit(sys.version_info < (3, 11))"


def hook_interpreter() -> str:
    """The path of an interpreter with SQLite; where none is found, of this one."""
    return sys.executable if has_sqlite() else _other() or sys.executable


def told_of_interpreter() -> str | None:
    """What a person should know of the interpreter that runs the hooks, where this one has no SQLite."""
    if has_sqlite():
        return None
    chosen = hook_interpreter()
    if chosen == sys.executable:
        return f"{NO_SQLITE}, and no other one was found: hooks note each turn for later"
    return f"{NO_SQLITE}: the hooks are run by {chosen}; commands need a Python with SQLite too"


def _other() -> str | None:
    import subprocess  # hardly ever

    for folder in (*environment().get("PATH", "").split(os.pathsep), *_FOLDERS):
        for name in _NAMES:
            path = os.path.join(folder, name)
            if not os.path.isabs(path) or not os.access(path, os.X_OK):
                continue
            try:
                command = [path, "-I", "-S", "-c", _ASK]
                if subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False).returncode == 0:
                    return path
            except (OSError, subprocess.SubprocessError):
                continue  # it is no Python that runs
    return None
