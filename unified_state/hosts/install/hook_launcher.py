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
from pathlib import Path
from typing import Any

from unified_state.errors import StorageError, UsageError
from unified_state.hosts.install.hook_table import LAUNCHER, QUOTE, launched
from unified_state.lib.files import write_atomically
from unified_state.lib.package import PACKAGE_ROOT, install_line
from unified_state.lib.read_files import SMALL_FILE, read_regular

_PROGRAM = "unified-state"
_EXECUTABLE = 0o755
_CACHES = (("pipx", ".cache"), (".cache", "pipx"))  # folders in which pipx runs programs


def write_launcher() -> bool:
    """Write the launcher, and return whether it is there. Raises StorageError if neither it nor a script is."""
    path = launcher_path()
    if os.name != "posix":
        return False
    if not (os.access(path, os.X_OK) and called_by(path) == (sys.executable, PACKAGE_ROOT)):
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
    own = (sys.executable, PACKAGE_ROOT) if command == launcher_path() else None  # the installer's script
    return called_by(command) or own


def called_by(path: str) -> tuple[str, str] | None:
    """Return the interpreter and the package folder that a launcher calls; None if `install` did not write it."""
    program = launched(path)
    try:
        return program if read_regular(path, SMALL_FILE) == launcher_text(*program) else None
    except OSError:
        return None


def check_is_durable(prefix: str) -> None:
    """Raise UsageError if the environment at `prefix` lies in a cache: hooks name the path of the program.

    `uvx` and `pipx run` put programs into folders below a cache that they clear at any time. Caches carry a tag
    (bford.info/cachedir), older ones of pipx only their name. An environment may carry the tag itself, for backup
    programs.
    """
    for folder in Path(os.path.realpath(prefix)).parents:
        if folder.parts[-2:] in _CACHES or (folder / "CACHEDIR.TAG").is_file():
            message = f"this program runs from a cache, {folder}, which is cleared at any time; hooks would break"
            raise UsageError(message, f"{install_line()}, then `unified-state install`; nothing was installed")
