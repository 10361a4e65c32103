"""The short program that the hooks in a client's settings call: `…/bin/unified-state-hook PreCompact`.

The client shows a hook's whole command after each `/compact`, to the user and to the model. So `install` writes a small
executable beside `unified-state`. It names this program and becomes the gate (`interfaces/gate.sh`), which the plugin
has too. It takes the place of a script that installers write (`interfaces/hook_script.py`). So it goes when the program
is uninstalled, and after an update the script is there until it has made itself the launcher again. On Windows, and in
a folder that cannot be written to, the installer's script stays and does the same.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

from unified_state.errors import StorageError
from unified_state.hosts.install.hook_table import LAUNCHER, QUOTE, launched
from unified_state.lib.files import write_atomically
from unified_state.lib.package import PACKAGE_ROOT
from unified_state.lib.read_files import SMALL_FILE, read_regular

_PROGRAM = "unified-state"
_EXECUTABLE = 0o755


def write_launcher() -> bool:
    """Write the launcher, and return whether it is there. Raises StorageError if neither it nor a script is."""
    path = launcher_path()
    if os.name != "posix":
        return False
    if not _is_current(path):
        try:
            write_atomically(path, launcher_text(sys.executable, PACKAGE_ROOT), _EXECUTABLE)
        except StorageError:
            if not os.access(path, os.X_OK):
                raise
            return False
    return True


def launcher_path() -> str:
    """Return the path of the launcher: beside the program `unified-state` of this interpreter. Raises StorageError."""
    ending = "" if os.name == "posix" else ".exe"
    for folder in _script_folders():
        if os.path.isfile(os.path.join(folder, _PROGRAM + ending)):
            return os.path.join(folder, LAUNCHER + ending)
    message = f"the program {_PROGRAM}{ending} of {sys.executable} is not there, so hooks have nothing to call"
    raise StorageError(message, "install the package with pip or uv, which write it")


def _script_folders() -> Iterator[str]:
    """Yield the folders in which installers write the programs of this interpreter."""
    yield os.path.dirname(sys.executable)
    import sysconfig  # slow to load; a virtual environment does without

    yield sysconfig.get_path("scripts")
    yield sysconfig.get_path("scripts", f"{os.name}_user")


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
    """Return the interpreter and the package folder that our handler calls, or None if its launcher is not as `install`
    writes it.
    """
    command = str(handler.get("command"))
    known = _program_of_launcher(command)
    is_own = known is None and command == launcher_path()  # the installer's script
    return (sys.executable, PACKAGE_ROOT) if is_own else known


def _program_of_launcher(path: str) -> tuple[str, str] | None:
    interpreter, root = launched(path)
    try:
        is_ours = read_regular(path, SMALL_FILE) == launcher_text(interpreter, root)
    except OSError:
        return None
    return (interpreter, root) if is_ours else None


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
