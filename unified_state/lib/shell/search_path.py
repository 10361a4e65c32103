"""The PATH, by which programs are found."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

_OWN = "unified-state"


def absolute_folders(environ: Mapping[str, str]) -> str:
    """Return the PATH without its relative and empty entries.

    Those refer to the current folder, which may be a stranger's repository.
    """
    folders = environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(filter(os.path.isabs, folders)) or os.devnull  # an empty PATH would mean the current folder


def find_program(name: str, environ: Mapping[str, str], outside: str = "") -> str | None:
    """Return the path of a program in the absolute folders of the PATH, or None.

    Programs in the folder `outside` are skipped, unless that folder also contains the user's home.
    """
    name = f"{name}.exe" if os.name == "nt" else name
    avoided = os.path.join(os.path.realpath(outside), "") if outside else ""
    if avoided and os.path.join(os.path.realpath(os.path.expanduser("~")), "").startswith(avoided):
        avoided = ""
    for folder in absolute_folders(environ).split(os.pathsep):
        path = os.path.join(folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            if avoided and os.path.join(os.path.realpath(folder), "").startswith(avoided):
                continue
            return path
    return None


def own_program(environ: Mapping[str, str], interpreter: str = sys.executable) -> str | None:
    """Return what the agent's shell calls us by: the name where the PATH has it, else the path beside the interpreter.

    Entries behind a relative or empty entry of the PATH do not count: the shell would look into the repository first.
    """
    for folder in environ.get("PATH", "").split(os.pathsep):
        if not os.path.isabs(folder):
            break
        if os.access(os.path.join(folder, _OWN), os.X_OK):
            return _OWN
    beside = os.path.join(os.path.dirname(interpreter), _OWN)
    return beside if os.access(beside, os.X_OK) else None
