"""The short program that the hooks in a client's settings call: `…/bin/unified-state-hook PreCompact`.

The client shows a hook's whole command after each `/compact`, to the user and to the model. So `install` writes a small
executable beside `unified-state`. It names this program and becomes the gate (`interfaces/gate.sh`), which the plugin
has too. Where no such file can be, the hooks keep the long form: Windows, a folder that cannot be written to.

The file takes the place of a script that installers write (`interfaces/hook_script.py`). So it goes when the program is
uninstalled, and after an update the script is there until it has made itself the launcher again.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from unified_state.errors import StorageError
from unified_state.hosts.install.hook_table import (
    LAUNCHER,
    QUOTE,
    called_root,
    is_launched,
    launched,
)
from unified_state.lib.files import write_atomically
from unified_state.lib.package import PACKAGE_ROOT
from unified_state.lib.read_files import SMALL_FILE, read_regular

_PROGRAM = "unified-state"
_EXECUTABLE = 0o755


def write_launcher() -> str:
    """Write the launcher beside this program and return its path, or "" if hooks need the long form here."""
    path = _path()
    if path and not _is_current(path):
        try:
            write_atomically(path, launcher_text(sys.executable, PACKAGE_ROOT), _EXECUTABLE)
        except StorageError:
            return ""
    return path


def planned_launcher() -> str:
    """Return the path that `write_launcher` would return, and write nothing."""
    path = _path()
    return path if path and (_is_current(path) or os.access(os.path.dirname(path), os.W_OK)) else ""


def launcher() -> str:
    """Return the path of the launcher of this program, or "" if there is none or it calls another program."""
    path = _path()
    return path if path and _is_current(path) else ""


def launcher_text(interpreter: str, root: str) -> bytes:
    """Return the content of a launcher."""
    python, folder = (text.replace("'", QUOTE) for text in (interpreter, root))
    text = rf"""#!/bin/sh
# Starts a hook of unified-state. `unified-state install` wrote it.
python='{python}'
root='{folder}'
entry=launched
gate=$root/unified_state/interfaces/gate.sh
[ -r "$gate" ] && . "$gate"
echo "unified-state: $gate is not there; run \`unified-state install\` again" >&2
exit 1
"""
    return os.fsencode(text)


def called_program(handler: Any) -> tuple[str, str] | None:
    """Return the interpreter and the package folder that our handler calls, or None if the handler or its launcher is
    not in a form that `install` writes.
    """
    command = str(handler.get("command"))
    if is_launched(handler):
        known = _program_of_launcher(command)
        is_own = known is None and command == _path()  # the installer's script, until a hook has run
        return (sys.executable, PACKAGE_ROOT) if is_own else known
    root = called_root(handler)
    return None if root is None else (command, root)


def _program_of_launcher(path: str) -> tuple[str, str] | None:
    interpreter, root = launched(path)
    try:
        is_ours = read_regular(path, SMALL_FILE) == launcher_text(interpreter, root)
    except OSError:
        return None
    return (interpreter, root) if is_ours else None


def _path() -> str:
    """Return where the launcher lies: beside the program `unified-state` of this interpreter, or ""."""
    if os.name != "posix":
        return ""
    folder = os.path.dirname(sys.executable)
    return os.path.join(folder, LAUNCHER) if os.path.isfile(os.path.join(folder, _PROGRAM)) else ""


def _is_current(path: str) -> bool:
    """Return whether a launcher is there that calls this program. An environment has its interpreter by several
    names.
    """
    program = _program_of_launcher(path) if os.access(path, os.X_OK) else None
    if program is None:
        return False
    interpreter, root = program
    is_same = os.path.dirname(interpreter) == os.path.dirname(sys.executable)
    return is_same and os.path.realpath(interpreter) == os.path.realpath(sys.executable) and root == PACKAGE_ROOT
